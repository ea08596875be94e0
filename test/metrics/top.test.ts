import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import type { RunningService } from '../../src/processes/server.ts';
import { startServer } from '../../src/processes/server.ts';
import { MEASURES, type Measure, type TopTenants } from '../../src/tenants.ts';
import { documentOf, editing, paragraph } from '../articles/support.ts';
import { runCli } from '../cli/run.ts';
import { emit, register, untilDelivery } from '../support/events.ts';
import { createStandInWriter, generating } from '../support/generating.ts';
import { startReceiver } from '../support/receiver.ts';
import { logger, type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();
const writers = createStandInWriter();
let server: RunningService;
let busy: TestWorkspace;
let quiet: TestWorkspace;

beforeAll(async () => {
  // Server and worker of this file are one process: either shows what both have done.
  server = await startServer(service.config, logger);
  await service.startWorker({ writers });
  busy = await service.workspace();
  quiet = await service.workspace();
});

const top = async (): Promise<TopTenants['by']> =>
  ((await (await fetch(new URL('/top', server.metricsUrl))).json()) as TopTenants).by;
const amount = (by: TopTenants['by'], { id }: TestWorkspace, measure: Measure): number =>
  by[measure].find(({ workspaceId }) => workspaceId === id)?.amount ?? 0;

// contract.md O20
it('a load is its workspace’s: by requests, bytes, work, refusals, tokens and deliveries', async () => {
  const before = await top();
  const grown = async (workspace: TestWorkspace, measure: Measure) =>
    amount(await top(), workspace, measure) - amount(before, workspace, measure);
  await service.call(quiet.key, 'GET', '/api/whoami');
  for (let each = 0; each < 20; each += 1) await service.call(busy.key, 'GET', '/api/whoami');
  for (let each = 0; each < 3; each += 1)
    await service.call(busy.key, 'GET', `/api/articles/${randomUUID()}`);
  expect(await grown(busy, 'requests')).toBe(23);
  expect(await grown(busy, 'refusals')).toBe(3);
  expect([await grown(quiet, 'requests'), await grown(quiet, 'refusals')]).toEqual([1, 0]);

  const receiver = await startReceiver();
  await register(service, busy, receiver.url);
  const ids = [...(await emit(service, busy)), ...(await emit(service, busy))];
  for (const id of ids) await untilDelivery(service, id, ({ status }) => status === 'succeeded');
  expect(await grown(busy, 'deliveries')).toBeGreaterThanOrEqual(2);
  expect(await grown(quiet, 'deliveries')).toBe(0);

  const [bytes, work] = [await grown(busy, 'bytes'), await grown(busy, 'workMilliseconds')];
  const editor = editing(service, busy);
  const article = await editor.create(await service.project(busy));
  const text = 'It says something of some length. '.repeat(15);
  const blocks = Array.from({ length: 400 }, (_, index) => paragraph(`${index} **is** ${text}`, `p${index}`));
  const saved = await editor.patch(article.id, { documentJson: documentOf(...blocks) });
  expect(saved.status, JSON.stringify(saved.body).slice(0, 400)).toBe(200);
  expect((await grown(busy, 'bytes')) - bytes).toBeGreaterThan(200_000);
  const saving = (await grown(busy, 'workMilliseconds')) - work;
  expect(saving).toBeGreaterThan(1);
  // The quiet one made one request; how long that took depends on the machine.
  expect(await grown(quiet, 'workMilliseconds')).toBeLessThan(saving);

  writers.responses.plan = async (question) => ({
    ...(await writers.pseudo.ask(question)),
    usage: { input: 700, cached: 500, output: 300, reasoning: 100 },
  });
  const { generate, untilFinal } = generating(service);
  expect((await untilFinal(busy, (await generate(busy)).job.id)).status).toBe('COMPLETED');
  expect(await grown(busy, 'tokens')).toBe(1_000);
  expect(await grown(quiet, 'tokens')).toBe(0);
  await receiver.close();
});

// contract.md O21
it('whoever has no key is in no list, whatever workspaces it invents', async () => {
  const before = await top();
  for (let each = 0; each < 50; each += 1) {
    await service.call('wcs_invented', 'GET', `/api/workspaces/${randomUUID()}/webhooks`);
    await service.call(null, 'POST', `/api/workspaces/${randomUUID()}/webhooks`, { url: 'x'.repeat(10_000) });
  }
  const after = await top();
  for (const measure of ['requests', 'refusals', 'bytes'] as const)
    expect(after[measure]).toEqual(before[measure]);
});

it('admin top sums the tables of the processes that it is given, and names one that has none', async () => {
  const { code, stdout, stderr } = await runCli(
    'admin',
    ['top', server.metricsUrl, server.metricsUrl, '--json'],
    {},
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const printed = JSON.parse(stdout);
  const by = await top();
  expect(Object.keys(printed)).toEqual(['processes', 'seconds', ...MEASURES]);
  expect(printed.processes).toBe(2);
  for (const measure of MEASURES) {
    expect(printed[measure][0]).toEqual({
      workspaceId: busy.id,
      amount: 2 * amount(by, busy, measure),
      error: 0,
    });
  }
  const tables = await runCli('admin', ['top', server.metricsUrl], {});
  expect(tables.stdout).toMatch(
    new RegExp(`requests:\\nworkspaceId +amount +error\\n${busy.id} +\\d+ +0\\n`),
  );
  const wrong = await runCli('admin', ['top', server.url], {});
  expect([wrong.code, wrong.stdout]).toEqual([1, '']);
  expect(wrong.stderr).toContain(`${server.url} does not show`);
  expect((await runCli('admin', ['top', 'file:///etc/passwd'], {})).stderr).toContain(
    'URL of a metrics port',
  );
});
