import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { ListrTask } from 'listr2';
import { importArticle } from '../../src/articles/import.ts';
import { createBlobStore } from '../../src/blobs/create.ts';
import type { VerbContext } from '../../src/context.ts';
import type { WorkspaceId } from '../../src/ids.ts';
import { type LocalService, UserError } from '../../src/local/service.ts';
import { createMediaProcessor } from '../../src/media/processor.ts';
import { createProject } from '../../src/projects/create.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import type { Article, EventName, Job, Wallet } from '../client/api.ts';
import { type Call, createClient } from '../client/client.ts';
import { follow } from './follow.ts';
import { createGenerationSteps, type Generation } from './generation.ts';
import type { DemoReceiver, Received } from './receiver.ts';

const ARTICLE_FILE = fileURLToPath(new URL('./article.md', import.meta.url));
const SOURCE_LANGUAGE = 'en';
const TARGET_LANGUAGE = 'es';
const LANGUAGES = [SOURCE_LANGUAGE, TARGET_LANGUAGE, 'de', 'pt-BR'];
const STARTING_CREDITS = 20;
/** Paragraphs of the source that are edited once it is translated. */
const EDITED = 3;

const EVENTS = [
  'article.created',
  'article.generation.started',
  'article.generation.completed',
  'article.generation.failed',
  'image.generated',
  'credits.consumed',
] as const satisfies EventName[];

/** What the steps find out, each for those after it. */
export interface Findings {
  workspaceId: WorkspaceId;
  key: string;
  call: Call;
  source: Article;
  before: Wallet;
  idempotencyKey: string;
  job: Job;
  target: Article;
  after: Wallet;
  /** Of the new articles, the imported one and its translation. */
  webhooks: readonly Received[];
  refresh: { changedBlocks: number; blocks: number; total: number; balance: number };
  generation: Generation;
}

/**
 * The whole way of one article, one step after the other, and then that of another one, which is generated. A step throws
 * when a call fails, a job does not complete, a webhook does not come or a signature is not genuine.
 */
export const createSteps = (service: LocalService, receiver: DemoReceiver): ListrTask<Findings>[] => [
  {
    title: 'Make a workspace, its owner key and a project',
    async task(found, task) {
      const { workspaceId, apiKey } = await createWorkspace(service.db, {
        name: 'Demo',
        credits: STARTING_CREDITS,
      });
      found.workspaceId = workspaceId;
      found.key = apiKey.key;
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
      const { db, config } = service;
      const actor = { kind: 'operator', workspaceId: found.workspaceId } as const;
      const operator: VerbContext = { db, actor, requestId: randomUUID() };
      const projectId = await createProject(operator, {
        name: 'School magazine',
        languages: LANGUAGES,
        primaryLanguage: SOURCE_LANGUAGE,
      });
      const media = createMediaProcessor({
        logger: {
          error: (_about, message) => {
            task.output = message;
          },
        },
      });
      const { articleId, wordCount } = await importArticle(
        { ...operator, blobs: await createBlobStore(config), media },
        {
          projectId,
          language: SOURCE_LANGUAGE,
          file: ARTICLE_FILE,
          status: 'APPROVED',
          keywords: ['school garden'],
        },
      ).finally(media.close);
      found.source = await readArticle(found, articleId);
      const { title, documentJson } = found.source;
      task.title = `Imported "${title}": ${wordCount} words in ${documentJson.blocks.length} blocks, one image`;
    },
  },
  {
    title: 'Ask what a translation costs',
    async task(found, task) {
      const { estimate, wallet } = (
        await found.call('estimateTranslation', {
          params: { articleId: found.source.id },
          query: { language: TARGET_LANGUAGE },
        })
      ).body;
      found.before = wallet;
      task.title = `${estimate.words} words cost ${estimate.total} credits; ${wallet.available} are available`;
    },
  },
  {
    title: `Translate it from ${SOURCE_LANGUAGE} to ${TARGET_LANGUAGE}`,
    async task(found, task) {
      found.idempotencyKey = `demo-${randomUUID()}`;
      const { body } = await translate(found);
      found.job = await follow(found.call, body.job.id, task);
      found.target = await readArticle(found, found.job.articleId);
      task.title = `Translated from ${SOURCE_LANGUAGE} to ${TARGET_LANGUAGE} (pseudo-localisation: no model was called)`;
    },
  },
  {
    title: 'Send the same request again, with the same Idempotency-Key',
    async task(found, task) {
      const { status, body } = await translate(found);
      if (body.job.id !== found.job.id) throw new UserError('The repeated request has made a second job.');
      task.title = `The same Idempotency-Key again: ${status}, the same job, nothing charged`;
    },
  },
  {
    title: 'Look into the wallet',
    async task(found, task) {
      const { call, workspaceId, before } = found;
      found.after = (await call('readWallet', { params: { workspaceId } })).body.wallet;
      const { balance, reserved } = found.after;
      task.title = `The wallet went from ${before.balance} to ${balance} credits, ${reserved} held`;
    },
  },
  {
    title: 'Receive the webhooks of the new articles',
    async task(found, task) {
      const { source, target } = found;
      found.webhooks = [
        ...(await receiver.webhooksOf(source.id, 1)),
        ...(await receiver.webhooksOf(target.id, 1)),
      ];
      task.title = `${found.webhooks.length} webhooks received, one for each new article; every signature is genuine`;
    },
  },
  {
    title: 'Edit three blocks of the source, and refresh the translation',
    async task(found, task) {
      const { call, source, target, workspaceId } = found;
      const params = { articleId: target.id };
      await call('updateArticle', {
        params: { articleId: source.id },
        body: { documentJson: editParagraphs(source) },
      });
      const { changedBlocks, blocks, total } = (await call('estimateRefresh', { params })).body.estimate;
      await follow(call, (await call('refreshTranslation', { params, body: {} })).body.job.id, task);
      const { balance } = (await call('readWallet', { params: { workspaceId } })).body.wallet;
      found.refresh = { changedBlocks, blocks, total, balance };
      task.title = `${changedBlocks} of ${blocks} blocks changed, ${total} credit: refreshed`;
    },
  },
  ...createGenerationSteps(service, receiver),
];

/** The article's body with a sentence added to some of its paragraphs. */
function editParagraphs({ documentJson }: Article) {
  let edited = 0;
  const blocks = documentJson.blocks.map((block) => {
    if (block.type !== 'paragraph' || edited === EDITED) return block;
    edited += 1;
    return { ...block, text: `${block.text} We added this later.` };
  });
  return { version: 1 as const, blocks };
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
