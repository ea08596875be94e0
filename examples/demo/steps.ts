import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ListrTask } from 'listr2';
import { z } from 'zod';
import { importArticle } from '../../src/articles/import.ts';
import { type Article, articleSchema } from '../../src/articles/schemas.ts';
import { blobFolder, createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { walletSchema } from '../../src/credits/schemas.ts';
import type { ArticleId } from '../../src/ids.ts';
import { type Job, jobSchema } from '../../src/jobs/schemas.ts';
import type { LocalService } from '../../src/local/service.ts';
import { createProject } from '../../src/projects/create.ts';
import { createAnswer, estimateAnswer, replayAnswer } from '../../src/translations/schemas.ts';
import { registeredEndpointSchema } from '../../src/webhooks/schemas.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { type Api, createApi } from './api.ts';
import { check } from './check.ts';
import { type Comparison, compareDocuments } from './compare.ts';
import { checkDeliveries } from './deliveries.ts';
import type { Findings } from './findings.ts';
import type { DemoReceiver } from './receiver.ts';
import { checkRuns } from './runs.ts';

const ARTICLE_FILE = fileURLToPath(new URL('./article.md', import.meta.url));
const SOURCE_LANGUAGE = 'en';
const TARGET_LANGUAGE = 'es';
const LANGUAGES = [SOURCE_LANGUAGE, TARGET_LANGUAGE, 'de', 'pt-BR'];
const STARTING_CREDITS = 20;
/** 1 per started 1,000 words (contract.md T1); the article has between 1,000 and 2,000. */
const EXPECTED_PRICE = 2;
const JOB_TIMEOUT_MS = 120_000;

/** What the demo runs on. */
export interface Stage {
  readonly service: LocalService;
  readonly receiver: DemoReceiver;
  readonly signal: AbortSignal;
}

type Step = ListrTask<Findings>;

/** The whole way of one article, one step after the other. Each throws when anything is not as promised. */
export const createSteps = ({ service, receiver, signal }: Stage): Step[] => [
  {
    title: 'Make a workspace, its owner key and a project',
    async task(found, task) {
      const { db } = service;
      const created = await createWorkspace(db, { name: 'Demo', credits: STARTING_CREDITS });
      found.workspaceId = created.workspaceId;
      found.key = created.apiKey.key;
      found.operator = {
        db,
        actor: { kind: 'operator', workspaceId: created.workspaceId },
        requestId: randomUUID(),
      };
      found.api = createApi(service.url, found.key, signal);
      task.title = `Workspace Demo (${created.workspaceId}) with ${STARTING_CREDITS} credits and an owner key`;
    },
  },
  {
    title: 'Register a webhook receiver',
    async task(found, task) {
      const { endpoint, secret } = await found.api({
        method: 'POST',
        path: `/api/workspaces/${found.workspaceId}/webhooks`,
        body: { url: receiver.url, events: ['article.created'], description: 'The receiver of the demo' },
        expect: 201,
        answer: registeredEndpointSchema,
      });
      receiver.secret = secret;
      task.title = `Registered ${endpoint.url} for ${endpoint.events.join(', ')}`;
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
      found.source = await readArticle(found.api, articleId);
      const { title, documentJson } = found.source;
      task.title = `Imported "${title}": ${wordCount} words in ${documentJson.blocks.length} blocks, one image`;
    },
  },
  {
    title: 'Ask what a translation costs',
    async task(found, task) {
      const { estimate, wallet, sufficient } = await found.api({
        method: 'GET',
        path: `/api/articles/${found.source.id}/translations/estimate?language=${TARGET_LANGUAGE}`,
        expect: 200,
        answer: estimateAnswer,
      });
      check(estimate.words === found.source.wordCount, `${estimate.words} words were estimated.`);
      check(estimate.total === EXPECTED_PRICE, `the estimate is ${estimate.total} credits.`);
      check(
        sufficient && wallet.available === STARTING_CREDITS,
        `the wallet has ${wallet.available} credits.`,
      );
      found.before = wallet;
      task.title = `${estimate.words} words cost ${estimate.total} credits; ${wallet.available} are available`;
    },
  },
  {
    title: `Translate it from ${SOURCE_LANGUAGE} to ${TARGET_LANGUAGE}`,
    async task(found, task) {
      found.idempotencyKey = `demo-${randomUUID()}`;
      const { article, job, estimate } = await found.api({
        ...createRequest(found),
        expect: 202,
        answer: createAnswer,
      });
      check(article.status === 'QUEUED', `the new article is ${article.status}.`);
      check(estimate.total === EXPECTED_PRICE, `the translation costs ${estimate.total} credits.`);
      found.job = await followJob(found.api, job.id, signal, (line) => {
        task.output = line;
      });
      task.title = `Translated from ${SOURCE_LANGUAGE} to ${TARGET_LANGUAGE} (pseudo-localisation: no model was called)`;
    },
  },
  {
    title: 'Send the same request again, with the same Idempotency-Key',
    async task(found, task) {
      const { job } = await found.api({ ...createRequest(found), expect: 200, answer: replayAnswer });
      check(job.id === found.job.id, `the repeat answered with another job, ${job.id}.`);
      task.title = 'The same Idempotency-Key again: 200, reused: true, the same job, nothing charged';
    },
  },
  {
    title: 'Compare the translation with its source',
    async task(found, task) {
      found.target = await readArticle(found.api, found.job.articleId);
      found.comparison = await compareArticles(service, found.source, found.target);
      const { blocks, changedTexts, links, inlineCode } = found.comparison;
      task.title = `${changedTexts} texts in ${blocks} blocks changed; structure, code, ${links} links and ${inlineCode} inline code spans are intact; the image is a copy`;
    },
  },
  {
    title: 'Look into the wallet',
    async task(found, task) {
      const { wallet } = await found.api({
        method: 'GET',
        path: `/api/workspaces/${found.workspaceId}/wallet`,
        expect: 200,
        answer: z.object({ wallet: walletSchema }),
      });
      check(
        found.job.consumedCredits === EXPECTED_PRICE,
        `the job consumed ${found.job.consumedCredits} credits.`,
      );
      check(wallet.balance === found.before.balance - EXPECTED_PRICE, `the balance is ${wallet.balance}.`);
      check(wallet.reserved === 0, `${wallet.reserved} credits are still held.`);
      found.after = wallet;
      task.title = `The wallet went from ${found.before.balance} to ${wallet.balance} credits, none held`;
    },
  },
  {
    title: 'Check the received webhooks',
    async task(found, task) {
      found.deliveries = await checkDeliveries(found, receiver, signal);
      task.title = `${found.deliveries.length} deliveries received, one for each new article; every signature is genuine`;
    },
  },
  {
    title: 'Look the runs up in Temporal',
    async task(found, task) {
      found.runUrl = await checkRuns(service, found);
      task.title = `Temporal shows one translateArticle run and ${found.deliveries.length} deliverWebhook runs, all completed`;
    },
  },
];

const createRequest = ({ source, idempotencyKey }: Findings) => ({
  method: 'POST' as const,
  path: `/api/articles/${source.id}/translations`,
  body: { language: TARGET_LANGUAGE },
  headers: { 'idempotency-key': idempotencyKey },
});

async function readArticle(api: Api, articleId: string): Promise<Article> {
  const answer = z.object({ article: articleSchema });
  const { article } = await api({ method: 'GET', path: `/api/articles/${articleId}`, expect: 200, answer });
  return article;
}

/** Asks for the job until it has ended well, telling each change. */
async function followJob(
  api: Api,
  jobId: string,
  signal: AbortSignal,
  tell: (line: string) => void,
): Promise<Job> {
  const deadline = Date.now() + JOB_TIMEOUT_MS;
  let told = '';
  for (;;) {
    const answer = z.object({ job: jobSchema });
    const { job } = await api({ method: 'GET', path: `/api/jobs/${jobId}`, expect: 200, answer });
    const line = [job.status, job.currentStep, `${job.progress} %`]
      .filter((part) => part !== null)
      .join(', ');
    if (line !== told) tell(line);
    told = line;
    if (job.status === 'COMPLETED') {
      check(job.progress === 100, `the finished job is at ${job.progress} %.`);
      return job;
    }
    check(
      job.status !== 'FAILED' && job.status !== 'CANCELLED',
      `the job ended ${job.status}: ${job.errorMessage}`,
    );
    check(Date.now() < deadline, `the job is still ${line} after ${JOB_TIMEOUT_MS / 1_000} s.`);
    await sleep(50, undefined, { signal });
  }
}

async function compareArticles({ db }: LocalService, source: Article, target: Article): Promise<Comparison> {
  check(target.status === 'NEEDS_REVIEW', `the translation is ${target.status}.`);
  check(target.primaryLanguage === TARGET_LANGUAGE, `the translation is in ${target.primaryLanguage}.`);
  check(target.translationGroupId === source.translationGroupId, 'the versions are in two groups.');
  check(target.title !== source.title, 'the title was left as it was.');
  const assetsOf = (article: Article) =>
    db
      .selectFrom('assets')
      .select(['id', 'content_hash'])
      .where('article_id', '=', article.id as ArticleId)
      .execute();
  const copies = await assetsOf(target);
  const pairs = (await assetsOf(source)).map(({ id, content_hash }) => {
    const copy = copies.find((asset) => asset.content_hash === content_hash && asset.id !== id);
    check(copy !== undefined, `the image ${id} was not copied.`);
    return [id as string, copy.id as string] as const;
  });
  check(pairs.length === 1 && copies.length === 1, `${pairs.length} images became ${copies.length}.`);
  return compareDocuments(source.documentJson, target.documentJson, new Map(pairs));
}
