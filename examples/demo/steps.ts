import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import type { ListrTask } from 'listr2';
import { importArticle } from '../../src/articles/import.ts';
import { blobFolder, createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import type { VerbContext } from '../../src/context.ts';
import type { DeliveryId, JobId, WorkspaceId } from '../../src/ids.ts';
import type { LocalService } from '../../src/local/service.ts';
import { createProject } from '../../src/projects/create.ts';
import {
  deliveryWorkflowId,
  generationWorkflowId,
  refreshWorkflowId,
  translationWorkflowId,
} from '../../src/temporal/ids.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import type { Article, EventName, Job, Wallet } from '../client/api.ts';
import { type Call, createClient } from '../client/client.ts';
import { check, until } from './check.ts';
import { compareDocuments } from './compare.ts';
import { follow } from './follow.ts';
import { createGenerationSteps, type Generation } from './generation.ts';
import { checkDeliveries, type Delivered, type DemoReceiver } from './receiver.ts';

const ARTICLE_FILE = fileURLToPath(new URL('./article.md', import.meta.url));
const SOURCE_LANGUAGE = 'en';
const TARGET_LANGUAGE = 'es';
const LANGUAGES = [SOURCE_LANGUAGE, TARGET_LANGUAGE, 'de', 'pt-BR'];
const STARTING_CREDITS = 20;
/** 1 per started 1,000 words (contract.md T2); the article has between 1,000 and 2,000. */
const EXPECTED_PRICE = 2;
/** Blocks of the source that are edited once it is translated. */
const EDITED_BLOCKS = 3;

const EVENTS = [
  'article.created',
  'article.generation.started',
  'article.generation.completed',
  'article.generation.failed',
  'credits.consumed',
] as const satisfies EventName[];

/** What the steps find out, each for those after it. */
export interface Findings {
  operator: VerbContext;
  workspaceId: WorkspaceId;
  key: string;
  call: Call;
  source: Article;
  before: Wallet;
  idempotencyKey: string;
  job: Job;
  target: Article;
  after: Wallet;
  deliveries: readonly Delivered[];
  refresh: { job: Job; changedBlocks: number; blocks: number; total: number; balance: number };
  generation: Generation;
  /** Of the translation, in the Temporal UI; null without one. */
  runUrl: string | null;
}

/** The whole way of one article, one step after the other, and then that of another one, which is generated. Each throws when anything is not as promised. */
export const createSteps = (service: LocalService, receiver: DemoReceiver): ListrTask<Findings>[] => [
  {
    title: 'Make a workspace, its owner key and a project',
    async task(found, task) {
      const { db } = service;
      const { workspaceId, apiKey } = await createWorkspace(db, { name: 'Demo', credits: STARTING_CREDITS });
      found.workspaceId = workspaceId;
      found.key = apiKey.key;
      found.operator = { db, actor: { kind: 'operator', workspaceId }, requestId: randomUUID() };
      found.call = createClient({ baseUrl: service.url, apiKey: apiKey.key });
      task.title = `Workspace Demo (${workspaceId}) with ${STARTING_CREDITS} credits and an owner key`;
    },
  },
  {
    title: 'Register a webhook receiver',
    async task({ call, workspaceId }, task) {
      const { body } = await call('registerWebhook', {
        params: { workspaceId },
        body: { url: receiver.url, events: EVENTS, description: 'The receiver of the demo' },
      });
      receiver.secret = body.secret;
      task.title = `Registered ${body.endpoint.url} for ${body.endpoint.events.join(', ')}`;
    },
  },
  {
    title: 'Import a Markdown article with an image',
    async task(found, task) {
      const projectId = await createProject(found.operator, {
        name: 'School magazine',
        languages: LANGUAGES,
        primaryLanguage: SOURCE_LANGUAGE,
      });
      const { articleId, wordCount, warnings } = await importArticle(
        { ...found.operator, blobs: createLocalBlobStore(blobFolder(service.dataDir)) },
        {
          projectId,
          language: SOURCE_LANGUAGE,
          file: ARTICLE_FILE,
          status: 'APPROVED',
          keywords: ['school garden'],
        },
      );
      check(warnings.length === 0, warnings.join(' '));
      found.source = await readArticle(found, articleId);
      const { title, documentJson } = found.source;
      task.title = `Imported "${title}": ${wordCount} words in ${documentJson.blocks.length} blocks, one image`;
    },
  },
  {
    title: 'Ask what a translation costs',
    async task(found, task) {
      const { source } = found;
      const { body } = await found.call('estimateTranslation', {
        params: { articleId: source.id },
        query: { language: TARGET_LANGUAGE },
      });
      const { estimate, wallet } = body;
      check(estimate.words === source.wordCount, `${estimate.words} words were estimated.`);
      check(estimate.total === EXPECTED_PRICE, `the estimate is ${estimate.total} credits.`);
      check(body.sufficient && wallet.available === STARTING_CREDITS, `${wallet.available} are available.`);
      found.before = wallet;
      task.title = `${estimate.words} words cost ${estimate.total} credits; ${wallet.available} are available`;
    },
  },
  {
    title: `Translate it from ${SOURCE_LANGUAGE} to ${TARGET_LANGUAGE}`,
    async task(found, task) {
      found.idempotencyKey = `demo-${randomUUID()}`;
      const { status, body } = await translate(found);
      check(status === 202 && body.article.status === 'QUEUED', `the request is answered ${status}.`);
      found.job = await follow(found.call, body.job.id, (line) => {
        task.output = line;
      });
      check(found.job.progress === 100, `the finished job is at ${found.job.progress} %.`);
      task.title = `Translated from ${SOURCE_LANGUAGE} to ${TARGET_LANGUAGE} (pseudo-localisation: no model was called)`;
    },
  },
  {
    title: 'Send the same request again, with the same Idempotency-Key',
    async task(found, task) {
      const { status, body } = await translate(found);
      check(status === 200 && body.job.id === found.job.id, `the repeat is answered ${status}.`);
      task.title = 'The same Idempotency-Key again: 200, reused: true, the same job, nothing charged';
    },
  },
  {
    title: 'Compare the translation with its source',
    async task(found, task) {
      const { source } = found;
      const target = await readArticle(found, found.job.articleId);
      check(target.status === 'NEEDS_REVIEW', `the translation is ${target.status}.`);
      check(target.primaryLanguage === TARGET_LANGUAGE, `the translation is in ${target.primaryLanguage}.`);
      check(target.translationGroupId === source.translationGroupId, 'the versions are in two groups.');
      check(target.title !== source.title, 'the title was left as it was.');
      found.target = target;
      const counts = compareDocuments(source.documentJson, target.documentJson);
      task.title = `${counts.changedTexts} texts in ${counts.blocks} blocks changed; structure, code, ${counts.links} links and ${counts.inlineCode} inline code spans are intact; the image is a copy`;
    },
  },
  {
    title: 'Look into the wallet',
    async task(found, task) {
      const { workspaceId, before, job } = found;
      const { wallet } = (await found.call('readWallet', { params: { workspaceId } })).body;
      check(job.consumedCredits === EXPECTED_PRICE, `the job consumed ${job.consumedCredits} credits.`);
      check(wallet.balance === before.balance - EXPECTED_PRICE, `the balance is ${wallet.balance}.`);
      check(wallet.reserved === 0, `${wallet.reserved} credits are still held.`);
      found.after = wallet;
      task.title = `The wallet went from ${before.balance} to ${wallet.balance} credits, none held`;
    },
  },
  {
    title: 'Check the received webhooks',
    async task(found, task) {
      const { call, workspaceId, source, target } = found;
      const list = async () => (await call('listWebhooks', { params: { workspaceId } })).body.deliveries;
      found.deliveries = await checkDeliveries(receiver, [source, target], list);
      task.title = `${found.deliveries.length} deliveries received, one for each new article; every signature is genuine`;
    },
  },
  {
    title: 'Edit three blocks of the source, and refresh the translation',
    async task(found, task) {
      const { call, source, target, workspaceId } = found;
      const { documentJson, edited } = editParagraphs(source, EDITED_BLOCKS);
      await call('updateArticle', { params: { articleId: source.id }, body: { documentJson } });
      const { estimate } = (await call('estimateRefresh', { params: { articleId: target.id } })).body;
      const { changedBlocks, blocks, total } = estimate;
      check(changedBlocks === EDITED_BLOCKS && total === 1, `the estimate is ${JSON.stringify(estimate)}.`);
      const { job } = (await call('refreshTranslation', { params: { articleId: target.id }, body: {} })).body;
      await follow(call, job.id, (line) => {
        task.output = line;
      });
      const after = await readArticle(found, target.id);
      for (const [index, block] of after.documentJson.blocks.entries()) {
        const isSame = isDeepStrictEqual(block, target.documentJson.blocks[index]);
        check(
          isSame !== edited.has(block.id),
          `block ${block.id} is ${isSame ? 'as it was' : 'another one'}.`,
        );
      }
      const { wallet } = (await call('readWallet', { params: { workspaceId } })).body;
      check(wallet.balance === found.after.balance - total, `the balance is ${wallet.balance}.`);
      found.refresh = { job, changedBlocks, blocks, total, balance: wallet.balance };
      task.title = `${changedBlocks} of ${blocks} blocks changed, ${total} credit: refreshed, every other block is as it was`;
    },
  },
  ...createGenerationSteps(receiver),
  {
    title: 'Look the runs up in Temporal',
    async task(found, task) {
      const { runUrl, webhooks } = await checkRuns(service, found);
      found.runUrl = runUrl;
      task.title = `Temporal shows one translateArticle run, one refreshTranslation run, two generateArticle runs and ${webhooks} deliverWebhook runs, all completed`;
    },
  },
];

/** The article's body with a sentence added to some of its paragraphs, and the ids of those. */
function editParagraphs({ documentJson }: Article, count: number) {
  const edited = new Set<string>();
  const blocks = documentJson.blocks.map((block) => {
    if (block.type !== 'paragraph' || edited.size === count) return block;
    edited.add(block.id);
    return { ...block, text: `${block.text} We added this later.` };
  });
  return { documentJson: { version: 1 as const, blocks }, edited };
}

const translate = ({ call, source, idempotencyKey }: Findings) =>
  call('createTranslation', {
    params: { articleId: source.id },
    headers: { 'Idempotency-Key': idempotencyKey },
    body: { language: TARGET_LANGUAGE },
  });

async function readArticle({ call }: Findings, articleId: string): Promise<Article> {
  return (await call('readArticle', { params: { articleId } })).body.article;
}

/**
 * Insists that each job and each delivery was a run of its own that completed.
 * @returns the translation's page in the Temporal UI, null without a UI, and how many deliveries there were
 */
async function checkRuns(
  { config, temporalUiUrl }: LocalService,
  { job, refresh, deliveries, generation }: Findings,
): Promise<{ runUrl: string | null; webhooks: number }> {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  try {
    const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE });
    const translation = translationWorkflowId(job.id as JobId);
    const webhooks = [...deliveries.map(({ received }) => received), ...generation.events].map(
      ({ webhook }) => deliveryWorkflowId((webhook?.deliveryId ?? '') as DeliveryId),
    );
    const runs: [id: string, type: string][] = [
      [translation, 'translateArticle'],
      [refreshWorkflowId(refresh.job.id as JobId), 'refreshTranslation'],
      [generationWorkflowId(generation.outlineJob.id as JobId), 'generateArticle'],
      [generationWorkflowId(generation.job.id as JobId), 'generateArticle'],
      ...webhooks.map((id): [string, string] => [id, 'deliverWebhook']),
    ];
    for (const [id, type] of runs) {
      // The rows are final a moment before the run that wrote them is.
      await until(`The end of ${id}`, async () => {
        const run = await client.workflow.getHandle(id).describe();
        check(run.type === type, `the run ${id} is a ${run.type}.`);
        check(['RUNNING', 'COMPLETED'].includes(run.status.name), `the run ${id} is ${run.status.name}.`);
        return run.status.name === 'COMPLETED';
      });
    }
    const counted = { webhooks: webhooks.length };
    if (temporalUiUrl === null) return { runUrl: null, ...counted };
    const namespace = encodeURIComponent(config.TEMPORAL_NAMESPACE);
    const { runId } = await client.workflow.getHandle(translation).describe();
    const runUrl = `${temporalUiUrl}/namespaces/${namespace}/workflows/${translation}/${runId}/history`;
    return { runUrl, ...counted };
  } finally {
    await connection.close();
  }
}
