import { describe, expect, inject, it, type TestContext } from 'vitest';
import { openJobs, untilEnded } from '../support/jobs.ts';
import { type ServiceProcess, startProcess, WITH_THREADS } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, WITH_SCHEDULES } from '../support/service.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

/** A service of one test alone, which may run beside others, behind a door to Temporal that can be shut. */
async function serveOne(onEnd: TestContext['onTestFinished']) {
  const [host = '', port = ''] = inject('temporalAddress').split(':');
  const temporal = await startTcpProxy({ host, port: Number(port) });
  onEnd(() => temporal.close());
  const service = await startTestService({ TEMPORAL_ADDRESS: temporal.address });
  onEnd(() => service.stop());
  const calls = translating(service);
  const receiver = await startReceiver();
  onEnd(() => receiver.close());
  const workspace = await service.workspace(1000);
  await service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/webhooks`, {
    url: receiver.url,
    events: ['article.created'],
  });
  return {
    ...{ service, temporal, calls, workspace },
    /** One finished translation, one charge, the event received at least once and always under one delivery id. */
    async expectOnce(job: { id: string; articleId: string }, credits: number): Promise<void> {
      await untilEnded(service.db, [job.id], 100_000);
      expect(await calls.readJob(workspace, job.id)).toMatchObject({
        status: 'COMPLETED',
        consumedCredits: credits,
      });
      expect(await calls.readWallet(workspace)).toEqual({
        balance: 1000 - credits,
        reserved: 0,
        available: 1000 - credits,
      });
      const charges = await service.db
        .selectFrom('ledger_entries')
        .select('amount')
        .where('kind', '=', 'settlement')
        .execute();
      expect(charges).toEqual([{ amount: -credits }]);
      const deliveries = await eventually(
        async () => receiver.received.filter((entry) => entry.body.data.articleId === job.articleId),
        (entries) => entries.length > 0,
      );
      expect(new Set(deliveries.map((entry) => entry.headers['x-service-delivery'])).size).toBe(1);
    },
  };
}

describe.concurrent('a translation survives', () => {
  it('a worker that is not there when it is created', async ({ onTestFinished }) => {
    const { service, calls, workspace, expectOnce } = await serveOne(onTestFinished);
    const { job } = await calls.translate(workspace);
    await service.startWorker();
    await expectOnce(job, 2);
  });

  it('Temporal being away when it is created: 202, and it completes by itself when Temporal is back', async ({
    onTestFinished,
  }) => {
    const { service, temporal, calls, workspace, expectOnce } = await serveOne(onTestFinished);
    const worker = await service.startWorker(WITH_SCHEDULES);
    await temporal.cut();
    const { job } = await calls.translate(workspace);
    expect(await calls.readJob(workspace, job.id)).toMatchObject({ status: 'QUEUED' });
    await temporal.restore();
    await expectOnce(job, 2);
    await worker.stop();
  }, 180_000);

  // contract.md T19
  it('its worker killed in the middle, twice', async ({ onTestFinished }) => {
    const { service, calls, workspace, expectOnce } = await serveOne(onTestFinished);
    const start = () => startProcess('worker.ts', { ...service.env, ...WITH_THREADS });
    let process: ServiceProcess = await start();
    const { job } = await calls.translate(workspace, 40_000);
    for (const progress of [10, 45]) {
      await eventually(
        () => openJobs(service.db, [job.id]),
        ([current]) => current === undefined || current.progress >= progress,
      );
      process.kill('SIGKILL');
      expect(await process.ended).toBe('SIGKILL');
      process = await start();
    }
    await expectOnce(job, 40);
    process.kill('SIGTERM');
    expect(await process.ended).toBe(0);
  }, 300_000);

  it('the server killed right after its response', async ({ onTestFinished }) => {
    const { service, workspace, expectOnce } = await serveOne(onTestFinished);
    const server = await startProcess('server.ts', { ...service.env, PORT: '0' });
    const [, url = ''] = /listening on (http:[^"]+)/.exec(server.log()) ?? [];
    const { job } = await translating({
      ...service,
      call: async (key, method, path, body) => {
        const response = await fetch(new URL(path, url), {
          method,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        server.kill('SIGKILL');
        return { status: response.status, headers: response.headers, body: await response.json() };
      },
    }).translate(workspace);
    await server.ended;
    await service.startWorker(WITH_SCHEDULES);
    await expectOnce(job, 2);
  });
});
