import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { ListrTask } from 'listr2';
import type { LocalService } from '../../src/local/service.ts';
import type { Article, Claim, GenerationConfig, Job, Outline, Source } from '../client/api.ts';
import { follow } from './follow.ts';
import { writePage } from './page.ts';
import type { DemoReceiver, Received } from './receiver.ts';
import type { Findings } from './steps.ts';

const WORDS = 600;
/** The cover and one in the text. */
const IMAGES = 2;
/**
 * article.created, two times article.generation.started and credits.consumed, article.generation.completed, image.generated each
 */
const EVENTS = 6 + IMAGES;

const CONFIG = {
  topic: 'Watering tomatoes in raised beds',
  audience: 'Teachers without a garden of their own',
  wordCount: WORDS,
  imageCount: IMAGES,
  imageStyle: 'watercolor',
  writingQuality: 'standard',
  researchEnabled: true,
  reviewOutline: true,
} as const satisfies Partial<GenerationConfig>;

/** What the second act finds out. */
export interface Generation {
  outline: Outline;
  /** The run that wrote the article. */
  job: Job;
  article: Article;
  sources: readonly Source[];
  claims: readonly Claim[];
  /** Path of the article as a page, with its images beside it. */
  page: string;
  webhooks: readonly Received[];
  balance: number;
}

/** An article from a topic: its price, its outline, its text, its receipt and its events. */
export const createGenerationSteps = (
  { url, config }: LocalService,
  receiver: DemoReceiver,
): ListrTask<Findings>[] => [
  {
    title: `Ask what an article of ${WORDS} words and ${IMAGES} images costs`,
    async task({ call, source }, task) {
      const { estimate, whole } = (
        await call('estimateGeneration', {
          params: { projectId: source.projectId },
          body: { generationConfig: CONFIG },
        })
      ).body;
      task.title = `An article of ${WORDS} words and ${IMAGES} images costs at most ${whole.total} credits with research and fact checking; its outline ${estimate.total}`;
    },
  },
  {
    title: 'Have the web read, and an outline made',
    async task({ call, source, generation }, task) {
      const { body } = await call('generateArticle', {
        params: { projectId: source.projectId },
        headers: { 'Idempotency-Key': `demo-${randomUUID()}` },
        body: { generationConfig: CONFIG },
      });
      const { articleId } = await follow(call, body.job.id, task);
      generation.article = (await call('readArticle', { params: { articleId } })).body.article;
      generation.outline = (await call('readOutline', { params: { articleId } })).body.outline;
      const { title, sections } = generation.outline;
      task.title = `An outline of ${sections.length} sections for "${title}" (pseudo writer: no model was called); the article waits as a draft`;
    },
  },
  {
    title: 'Approve the outline, and have the article written',
    async task({ call, generation }, task) {
      const articleId = generation.article.id;
      const { headers } = await call('readOutline', { params: { articleId } });
      const { body } = await call('approveOutline', {
        params: { articleId },
        headers: { 'If-Match': headers.get('etag') ?? '' },
        body: { idempotencyKey: `demo-${randomUUID()}` },
      });
      generation.job = await follow(call, body.job.id, task);
      generation.article = (await call('readArticle', { params: { articleId } })).body.article;
      const { wordCount, documentJson } = generation.article;
      task.title = `Written from the approved outline: ${wordCount} words in ${documentJson.blocks.length} blocks, waiting for review`;
    },
  },
  {
    title: 'See what it knows, and from where',
    async task({ call, generation }, task) {
      const articleId = generation.article.id;
      generation.sources = (await call('listSources', { params: { articleId } })).body.sources;
      generation.claims = (await call('listClaims', { params: { articleId } })).body.claims;
      const supported = generation.claims.filter(({ verdict }) => verdict === 'supported').length;
      task.title = `${generation.sources.length} sources (pages that ship with the service), ${generation.claims.length} claims checked: ${supported} supported`;
    },
  },
  {
    title: 'Open the article with its images',
    async task({ call, generation }, task) {
      const { article } = generation;
      const { assets } = (await call('listAssets', { params: { articleId: article.id } })).body;
      generation.page = await writePage(path.resolve(config.DATA_DIR, 'demo'), url, article, assets);
      task.title = `A cover and ${assets.length - 1} image in the text (shapes: no model was called): ${generation.page}`;
    },
  },
  {
    title: 'Look at the receipt',
    async task({ call, workspaceId, generation }, task) {
      const { estimatedCredits, reservedCredits, consumedCredits } = generation.job;
      generation.balance = (await call('readWallet', { params: { workspaceId } })).body.wallet.balance;
      task.title = `Estimated ${estimatedCredits}, reserved ${reservedCredits}, consumed ${consumedCredits}: the balance is ${generation.balance}`;
    },
  },
  {
    title: 'Receive the events of the generation',
    async task({ generation }, task) {
      generation.webhooks = await receiver.webhooksOf(generation.article.id, EVENTS);
      task.title = `${generation.webhooks.length} events of the generation received; every signature is genuine`;
    },
  },
];
