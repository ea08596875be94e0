import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ScriptWorkspace } from '../../../soak/support/service.ts';
import type { DocumentJson } from '../../../src/document/format/schema.ts';
import { type DeliveryId, type JobId, newId, type ProjectId } from '../../../src/ids.ts';
import { createProject } from '../../../src/projects/create.ts';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { createArticle } from '../../support/articles.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { connectOperator } from '../../support/temporal.ts';
import { eventually } from '../../support/wait.ts';
import type { Deployment } from './deployment.ts';
import type { Model } from './model.ts';
import { readDeliveries, readDelivery } from './state.ts';

/** Batches of the long translation that the model answers before it hangs. */
const ANSWERED_BATCHES = 3;
/** Deliveries that wait together: enough for a burst, more than it sends at once. */
const BACKLOG = 400;
/** What the hold that belongs to nothing keeps, in credits. */
const STRANDED_CREDITS = 3;

/** A workspace with one endpoint, so that each event of it is one delivery. */
export interface Subscriber extends ScriptWorkspace {
  readonly receiver: Receiver;
  readonly secret: string;
}

/** What is under way when the engines are lost. */
export interface Life {
  /** Answers 204. */
  readonly prompt: Subscriber;
  /** Answers 503. */
  readonly failing: Subscriber;
  /** Answers 404. */
  readonly gone: Subscriber;
  /** Never answers. */
  readonly silent: Subscriber;
  /** Never answers, and has a backlog, some of it in a burst. */
  readonly crowded: Subscriber;
  /** Deliveries of `failing`: one that waits after two attempts, two after one. */
  readonly retried: { readonly twice: DeliveryId; readonly last: DeliveryId; readonly later: DeliveryId };
  readonly jobs: { readonly completed: JobId; readonly midWork: JobId; readonly queued: JobId };
  readonly subscribers: readonly Subscriber[];
}

/** So many paragraphs of 50 words; no two texts are the same, so that it shows which are asked for again. */
const paragraphs = (name: string, count: number): DocumentJson => ({
  version: 1,
  blocks: Array.from({ length: count }, (_, index) => ({
    id: `p${index}`,
    type: 'paragraph' as const,
    text: `${name} ${index}: ${Array.from({ length: 48 }, (_word, word) => `word${String.fromCharCode(97 + (word % 26))}`).join(' ')}`,
  })),
});

/** Fills a deployment with work in every state, and stops its worker in the middle of it. About 40 seconds. */
export async function live(deployment: Deployment, model: Model): Promise<Life> {
  const { db } = deployment;
  const subscriber = async (name: string, answer: Receiver['answer']): Promise<Subscriber> => {
    const workspace = await deployment.workspace(name);
    const receiver = Object.assign(await startReceiver(), { answer });
    return { ...workspace, receiver, secret: (await deployment.register(workspace, receiver.url)).secret };
  };
  const prompt = await subscriber('Prompt', () => 204);
  const failing = await subscriber('Failing', () => 503);
  const gone = await subscriber('Gone', () => 404);
  const silent = await subscriber('Silent', () => new Promise(() => undefined));
  const crowded = await subscriber('Crowded', () => new Promise(() => undefined));
  const emitOne = async (workspace: ScriptWorkspace): Promise<DeliveryId> => {
    const { articleIds } = await deployment.emit(workspace);
    const delivery = (await readDeliveries(db)).find(({ article_id }) => articleIds[0] === article_id);
    if (delivery === undefined) throw new Error('no delivery was stored');
    return delivery.id;
  };
  const attempted = (id: DeliveryId, attempts: number) =>
    eventually(
      () => readDelivery(db, id),
      (row) => row.attempts === attempts,
      60_000,
    );

  const twice = await emitOne(failing);
  await attempted(await emitOne(gone), 1);

  const projectId = await createProject(prompt.context, {
    name: 'Garden',
    languages: ['en', 'es'],
    primaryLanguage: 'en',
  });
  const completed = await translate(deployment, prompt, projectId, 'Done', 2);
  await untilJob(deployment, prompt, completed, (job) => job.status === 'COMPLETED');
  model.translations = ANSWERED_BATCHES;
  const midWork = await translate(deployment, prompt, projectId, 'Middle', 60);
  await untilJob(deployment, prompt, midWork, (job) => job.progress > 10);

  const operator = await connectOperator();
  await operator.reset(deliveryWorkflowId(twice));
  await operator.close();
  await attempted(twice, 2);
  const [last, later] = [await emitOne(failing), await emitOne(failing)];
  await attempted(last, 1);
  await attempted(later, 1);
  await askForSuggestions(deployment, model, prompt, projectId);
  await deployment.emit(silent, 3);
  await eventually(
    async () => silent.receiver.received.length,
    (count) => count === 3,
  );
  await deployment.emit(crowded, BACKLOG);
  await eventually(
    async () => crowded.receiver.received.length,
    (count) => count > 0,
  );

  await deployment.killWorkers();
  await deployment.emit(prompt, 4);
  const queued = await translate(deployment, prompt, projectId, 'Queued', 2);
  await db.transaction().execute(async (tx) => {
    await sql`INSERT INTO holds (id, workspace_id, purpose, run_id, amount)
      VALUES (${newId()}, ${gone.id}, 'translation', ${newId()}, ${STRANDED_CREDITS})`.execute(tx);
    await sql`UPDATE wallets SET reserved = reserved + ${STRANDED_CREDITS}
      WHERE workspace_id = ${gone.id}`.execute(tx);
  });
  return {
    ...{ prompt, failing, gone, silent, crowded },
    subscribers: [prompt, failing, gone, silent, crowded],
    retried: { twice, last, later },
    jobs: { completed, midWork, queued },
  };
}

/** Starts the translation of a new article of so many paragraphs over HTTP and returns its job's id. */
async function translate(
  deployment: Deployment,
  workspace: ScriptWorkspace,
  projectId: ProjectId,
  title: string,
  length: number,
): Promise<JobId> {
  const document = paragraphs(title, length);
  const source = await createArticle(deployment.db, workspace, projectId, { title, document });
  const { status, body } = await deployment.call(
    workspace.key,
    'POST',
    `/api/articles/${source.id}/translations`,
    { language: 'es' },
  );
  if (status !== 202) throw new Error(JSON.stringify(body));
  return body.job.id;
}

async function untilJob(
  deployment: Deployment,
  workspace: ScriptWorkspace,
  id: string,
  condition: (job: { status: string; progress: number }) => boolean,
) {
  return eventually(
    async () => (await deployment.call(workspace.key, 'GET', `/api/jobs/${id}`)).body.job,
    condition,
  );
}

/** A paid request whose answer never comes: its hold is open once the model is asked. */
async function askForSuggestions(
  deployment: Deployment,
  model: Model,
  workspace: ScriptWorkspace,
  projectId: ProjectId,
): Promise<void> {
  const article = await createArticle(deployment.db, workspace, projectId);
  // The server is killed before it can answer.
  deployment
    .call(workspace.key, 'POST', `/api/articles/${article.id}/categories/suggest`)
    .catch(() => undefined);
  await eventually(
    async () => model.suggestions(),
    (count) => count > 0,
  );
}

/** Stores events without a pause until it is stopped, so that a backup is taken of a database in use. */
export function keepEmitting(deployment: Deployment, workspace: ScriptWorkspace): { stop(): Promise<void> } {
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      await deployment.emit(workspace);
      await sleep(50);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
    },
  };
}
