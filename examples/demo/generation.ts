import { randomUUID } from 'node:crypto';
import type { ListrTask } from 'listr2';
import type { Article, GenerationConfig, Job, Outline } from '../client/api.ts';
import type { Call } from '../client/client.ts';
import { check } from './check.ts';
import { follow } from './follow.ts';
import { checkEvents, type DemoReceiver, type Received } from './receiver.ts';
import type { Findings } from './steps.ts';

const WORDS = 600;
/** 1 per started 1,000 words in standard quality, and no images (contract.md G32). */
const EXPECTED_PRICE = 1;
/** Of what was asked for, an article may have so much more or less. */
const TOLERANCE = 0.1;

const CONFIG = {
  topic: 'Watering a school garden',
  audience: 'Teachers without a garden of their own',
  wordCount: WORDS,
  imageCount: 0,
  writingQuality: 'standard',
  reviewOutline: true,
} as const satisfies Partial<GenerationConfig>;

/** What the second act finds out. */
export interface Generation {
  readonly outlineJob: Job;
  readonly outline: Outline;
  /** The run that wrote the article. */
  job: Job;
  article: Article;
  /** What the receiver got of it, in the order of the catalog. */
  events: readonly Received[];
  balance: number;
}

/** An article from a topic: its price, its outline, its text, its receipt and its events. */
export const createGenerationSteps = (receiver: DemoReceiver): ListrTask<Findings>[] => [
  {
    title: `Ask what an article of ${WORDS} words costs`,
    async task({ call, source }, task) {
      const { body } = await call('estimateGeneration', {
        params: { projectId: source.projectId },
        body: { generationConfig: CONFIG },
      });
      const { estimate, whole } = body;
      check(estimate.total === 0 && whole.total === EXPECTED_PRICE, `the price is ${JSON.stringify(body)}.`);
      check(body.sufficient, 'the wallet does not cover it.');
      task.title = `An article of ${WORDS} words costs ${whole.total} credit; its outline alone ${estimate.total}`;
    },
  },
  {
    title: 'Have an outline made',
    async task(found, task) {
      const { call, source } = found;
      const { status, body } = await call('generateArticle', {
        params: { projectId: source.projectId },
        headers: { 'Idempotency-Key': `demo-${randomUUID()}` },
        body: { generationConfig: CONFIG },
      });
      check(status === 202 && body.article.status === 'QUEUED', `the request is answered ${status}.`);
      const job = await follow(call, body.job.id, (line) => {
        task.output = line;
      });
      const { outline, article } = await readBoth(call, job.articleId);
      check(job.consumedCredits === 0, `the outline cost ${job.consumedCredits} credits.`);
      check(article.status === 'DRAFT' && article.documentJson.blocks.length === 0, 'the draft has content.');
      found.generation = {
        outlineJob: job,
        outline,
        job,
        article,
        events: [],
        balance: found.refresh.balance,
      };
      task.title = `An outline of ${outline.sections.length} sections for "${outline.title}" (pseudo writer: no model was called); the article waits as a draft`;
    },
  },
  {
    title: 'Approve the outline, and have the article written',
    async task(found, task) {
      const { call, generation } = found;
      const articleId = generation.article.id;
      const { headers } = await call('readOutline', { params: { articleId } });
      const { body } = await call('approveOutline', {
        params: { articleId },
        headers: { 'If-Match': headers.get('etag') ?? '' },
        body: { idempotencyKey: `demo-${randomUUID()}` },
      });
      generation.job = await follow(call, body.job.id, (line) => {
        task.output = line;
      });
      const { article, outline } = await readBoth(call, articleId);
      const headings = article.documentJson.blocks.filter((block) => block.type === 'heading');
      check(article.status === 'NEEDS_REVIEW', `the article is ${article.status}.`);
      check(article.title === outline.title, `the title is "${article.title}".`);
      check(!headings.some(({ level }) => level === 1), 'the body has a heading of level 1.');
      for (const { heading } of generation.outline.sections) {
        check(
          headings.some(({ text }) => text === heading),
          `the section "${heading}" is missing.`,
        );
      }
      const words = article.wordCount ?? 0;
      check(Math.abs(words - WORDS) <= WORDS * TOLERANCE, `the article has ${words} words.`);
      generation.article = article;
      task.title = `Written from the approved outline: ${words} words in ${article.documentJson.blocks.length} blocks, waiting for review`;
    },
  },
  {
    title: 'Look at the receipt',
    async task({ call, workspaceId, generation }, task) {
      const { estimatedCredits, reservedCredits, consumedCredits } = generation.job;
      check(estimatedCredits === reservedCredits, `${reservedCredits} credits were reserved.`);
      check(consumedCredits === EXPECTED_PRICE, `${consumedCredits} credits were consumed.`);
      const { wallet } = (await call('readWallet', { params: { workspaceId } })).body;
      check(wallet.balance === generation.balance - consumedCredits, `the balance is ${wallet.balance}.`);
      check(wallet.reserved === 0, `${wallet.reserved} credits are still held.`);
      generation.balance = wallet.balance;
      task.title = `Estimated ${estimatedCredits}, reserved ${reservedCredits}, consumed ${consumedCredits}: the balance is ${wallet.balance}`;
    },
  },
  {
    title: 'Check the events of the generation',
    async task({ call, workspaceId, generation }, task) {
      const { outlineJob, job, article } = generation;
      const articleId = article.id;
      const expected = [
        ['article.created', { articleId, projectId: article.projectId, title: CONFIG.topic }],
        ['article.generation.started', { articleId, jobId: outlineJob.id, estimatedCredits: 0 }],
        ['article.generation.started', { articleId, jobId: job.id, estimatedCredits: EXPECTED_PRICE }],
        ['article.generation.completed', { articleId, jobId: job.id, consumedCredits: EXPECTED_PRICE }],
        ['credits.consumed', { articleId, jobId: job.id, credits: EXPECTED_PRICE }],
      ] as const;
      const list = async () => (await call('listWebhooks', { params: { workspaceId } })).body.deliveries;
      generation.events = await checkEvents(receiver, articleId, expected, list);
      task.title = `${expected.length} events of the generation received as promised; every signature is genuine`;
    },
  },
];

async function readBoth(call: Call, articleId: string): Promise<{ article: Article; outline: Outline }> {
  const { article } = (await call('readArticle', { params: { articleId } })).body;
  const { outline } = (await call('readOutline', { params: { articleId } })).body;
  return { article, outline };
}
