import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { ProjectId } from '../../src/ids.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { type Outcome, runCli } from './run.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;
beforeAll(async () => {
  await service.startWorker();
  workspace = await service.workspace(20);
  projectId = await service.project(workspace);
});

const TOPIC = 'Watering a garden';
const generate = (env: Record<string, string>, ...more: string[]): Promise<Outcome> =>
  runCli(
    'admin',
    ['article', 'generate', '--project', projectId, '--topic', TOPIC, '--images', '0', ...more, '--json'],
    env,
  );
const readArticle = async (id: string) =>
  (await service.call(workspace.key, 'GET', `/api/articles/${id}`)).body.article;

it('article generate follows the job to its end, and prints the article and what it cost', async () => {
  const { code, stdout, stderr } = await generate(
    service.env,
    ...['--words', '300', '--quality', 'standard', '--language', 'es', '--faq'],
  );
  expect(code, stderr).toBe(0);
  const answer = JSON.parse(stdout);
  expect(answer).toEqual({
    articleId: expect.any(String),
    jobId: expect.any(String),
    status: 'COMPLETED',
    reservedCredits: 1,
    consumedCredits: 1,
  });
  const lines = stderr.trimEnd().split('\n');
  expect([lines[0], lines.at(-1)]).toEqual(['QUEUED  0 %', 'COMPLETED  finalize  100 %']);
  expect(await readArticle(answer.articleId)).toMatchObject({
    status: 'NEEDS_REVIEW',
    primaryLanguage: 'es',
    generationConfig: { topic: TOPIC, language: 'es', wordCount: 300, imageCount: 0, faq: true },
  });
});

it('with --review-outline it ends with the outline, and with --wait 0 it only queues', async () => {
  const outlined = await generate(service.env, '--words', '300', '--review-outline');
  expect(outlined.code, outlined.stderr).toBe(0);
  const { articleId, status, consumedCredits } = JSON.parse(outlined.stdout);
  expect([status, consumedCredits]).toEqual(['COMPLETED', 0]);
  expect((await readArticle(articleId)).outline.sections.length).toBeGreaterThan(0);

  const queued = await generate(service.env, '--words', '300', '--title', 'Own title', '--wait', '0');
  const answer = JSON.parse(queued.stdout);
  expect([queued.code, answer.status, answer.consumedCredits]).toEqual([0, 'QUEUED', 0]);
  expect((await readArticle(answer.articleId)).title).toBe('Own title');
});

it('bad settings, too little credit and a service that does not run are errors, and nothing is queued', async () => {
  const jobs = async () => (await service.db.selectFrom('jobs').select('id').execute()).length;
  const before = await jobs();
  const { TEMPORAL_ADDRESS: _, ...rest } = service.env;
  const alone = { ...rest, DATA_DIR: path.join(tmpdir(), 'no-service-here') };
  const refused: [Outcome, RegExp][] = [
    [
      await generate(service.env, '--words', '199', '--quality', 'best'),
      /--words: Expected at least 200\.\n--quality: best is not one of standard, premium\./,
    ],
    [await generate(service.env, '--language', 'fr'), /fr is not one of the project's languages/],
    [await generate(service.env, '--words', '10000'), /credits/],
    [await generate(alone), /is not running/],
  ];
  for (const [{ code, stdout, stderr }, message] of refused) {
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(message);
  }
  expect(await jobs()).toBe(before);
});
