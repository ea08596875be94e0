import { beforeEach, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import type { JobId } from '../../src/ids.ts';
import { type Editing, editing } from '../articles/support.ts';
import { startTestService, type TestWorkspace, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();

let workspace: TestWorkspace;
let editor: Editing;
let article: Article;
let jobId: JobId;

beforeEach(async () => {
  workspace = await service.workspace();
  editor = editing(service, workspace);
  article = await editor.create(await service.project(workspace));
  jobId = await editor.openJob(article);
});

const get = (path: string, headers: Record<string, string> = {}) =>
  service.call(workspace.key, 'GET', path, undefined, headers);
const tagOf = async (): Promise<string> => (await get(`/api/jobs/${jobId}`)).headers.get('etag') ?? '';
const follow = (tag: string, wait: number) =>
  get(`/api/jobs/${jobId}?wait=${wait}`, { 'if-none-match': tag });
const cancel = () => service.call(workspace.key, 'POST', `/api/jobs/${jobId}/cancel`);
const sinceOf = (began: number): number => performance.now() - began;

// contract.md J6
it('the jobs of an article are listed newest first, page by page, and only its own', async () => {
  await editor.openJob(await editor.create(await service.project(workspace)));
  const ids: string[] = [jobId];
  for (let each = 0; each < 4; each += 1) ids.unshift(await editor.openJob(article));
  const path = `/api/articles/${article.id}/jobs`;
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await get(`${path}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(page.status).toBe(200);
    expect(page.body.jobs.length).toBeLessThanOrEqual(2);
    for (const job of page.body.jobs) {
      expect(job).toEqual((await get(`/api/jobs/${job.id}`)).body.job);
      seen.push(job.id);
    }
    cursor = page.body.nextCursor;
  }
  expect(seen).toEqual(ids);
});

it('of another workspace there is no list', async () => {
  const other = await service.workspace();
  const answer = await service.call(other.key, 'GET', `/api/articles/${article.id}/jobs`);
  expect([answer.status, answer.body.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
});

it('a job that has not changed is 304, at once or when the wait is over, and sent whole to a client that has not seen it', async () => {
  const tag = await tagOf();
  const unchanged = await get(`/api/jobs/${jobId}`, { 'if-none-match': `"other", W/${tag}` });
  expect([unchanged.status, unchanged.body, unchanged.headers.get('etag')]).toEqual([304, undefined, tag]);
  const began = performance.now();
  expect((await follow(tag, 1)).status).toBe(304);
  expect(sinceOf(began)).toBeGreaterThanOrEqual(990);
  const whole = await follow('"other"', 30);
  expect([whole.status, whole.body.job.id]).toEqual([200, jobId]);
  expect((await get(`/api/jobs/${jobId}?wait=31`)).status).toBe(400);
});

// contract.md J7
it('a wait ends when the job changes, and one that has ended is not waited for', async () => {
  const waiting = follow(await tagOf(), 30);
  expect((await cancel()).status).toBe(202);
  const { status, body, headers } = await waiting;
  expect([status, body.job.status]).toEqual([200, 'CANCELLED']);
  const again = await follow(headers.get('etag') ?? '', 30);
  expect(again.status).toBe(304);
});

it('a wait ends when the job is deleted with its article', async () => {
  const tag = await tagOf();
  const waiting = follow(tag, 30);
  await service.db.deleteFrom('jobs').where('id', '=', jobId).execute();
  expect((await waiting).status).toBe(404);
});

// contract.md J8
it('twenty requests of a workspace wait at once; one more is 429 with Retry-After, and another workspace waits', async () => {
  const tag = await tagOf();
  const crowd = Array.from({ length: 25 }, () => follow(tag, 2));
  const answers = await Promise.all(crowd);
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 304)).toHaveLength(20);
  expect(refused.map(({ body, headers }) => [body.code, headers.get('retry-after')])).toEqual(
    Array(5).fill(['RATE_LIMITED', '1']),
  );
  expect((await follow(tag, 1)).status).toBe(304);
});

// contract.md J8
it('a client that has gone no longer waits', async () => {
  const tag = await tagOf();
  const gone = new AbortController();
  let refused = 0;
  const crowd = Array.from({ length: 21 }, async () => {
    const response = await fetch(new URL(`/api/jobs/${jobId}?wait=30`, service.url), {
      headers: { authorization: `Bearer ${workspace.key}`, 'if-none-match': tag },
      signal: gone.signal,
    });
    if (response.status === 429) refused += 1;
  });
  // Once one too many is refused, all others wait.
  await eventually(
    async () => refused,
    (count) => count === 1,
  );
  gone.abort();
  await Promise.allSettled(crowd);
  const status = async () => (await follow(tag, 1)).status;
  expect(await eventually(status, (one) => one !== 429, 10_000)).toBe(304);
});

it('a server that stops responds to every waiting request', async () => {
  const ending = await startTestService();
  const own = await ending.workspace();
  const its = editing(ending, own);
  const id = await its.openJob(await its.create(await ending.project(own)));
  const path = `/api/jobs/${id}`;
  const tag = (await ending.call(own.key, 'GET', path)).headers.get('etag') ?? '';
  let refused = 0;
  const crowd = Array.from({ length: 21 }, async () => {
    const { status } = await ending.call(own.key, 'GET', `${path}?wait=30`, undefined, {
      'if-none-match': tag,
    });
    if (status === 429) refused += 1;
    return status;
  });
  // Once one too many is refused, all others wait.
  await eventually(
    async () => refused,
    (count) => count === 1,
  );
  const began = performance.now();
  await ending.stop();
  expect((await Promise.all(crowd)).filter((status) => status === 304)).toHaveLength(20);
  expect(sinceOf(began)).toBeLessThan(15_000);
});
