import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createWebhookActivities } from '../../../activities/webhooks.ts';
import { loadConfig, requireAddresses } from '../../../src/config.ts';
import { createAddressGuard } from '../../../src/outbound/resolver.ts';
import { startServer } from '../../../src/processes/server.ts';
import { startWorker } from '../../../src/processes/worker.ts';
import { newSecretKey } from '../../../src/secret-keys.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { createWebhookSender } from '../../../src/webhooks/sending/sender.ts';
import { verifyWebhook } from '../../../src/webhooks/verify.ts';
import { scrape } from '../../metrics/support/exposition.ts';
import { emit, emitTogether, rowsOf } from '../../support/events.ts';
import { logger, startTestService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { serveOne, subscribe, untilAll, untilReceived } from '../relay/support.ts';

const [OLD, NEW] = [newSecretKey('old'), newSecretKey('new')];

/** A worker with its log. */
async function startLogged(service: TestService, env: Record<string, string>) {
  const lines: string[] = [];
  const watched = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const worker = await startWorker(requireAddresses(loadConfig({ ...service.env, ...env })), watched);
  onTestFinished(() => worker.stop());
  return { worker, lines: (text: string) => lines.filter((line) => line.includes(text)) };
}

const untouched = async (service: TestService, workspace: { id: Parameters<typeof rowsOf>[1]['id'] }) => {
  for (const row of await rowsOf(service, workspace)) {
    expect(row).toMatchObject({ status: 'pending', attempts: 0, burst_id: null, ended_at: null });
  }
};
const held = (url: string, count: number) =>
  eventually(
    async () => (await scrape(url)).value('webhook_endpoints_held'),
    (value) => value === count,
  );

// contract.md D25
it('deliveries whose key a worker lacks wait without an attempt, others go on, and they go on with the key', async () => {
  const service = await startTestService({ SECRETS_KEYS: OLD });
  onTestFinished(() => service.stop());
  const lacking = await startLogged(service, { SECRETS_KEYS: OLD });
  const early = await subscribe(service);
  onTestFinished(() => early.receiver.close());
  const server = await startServer(
    { ...service.config, SECRETS_KEYS: loadConfig({ SECRETS_KEYS: `${NEW},${OLD}` }).SECRETS_KEYS },
    logger,
  );
  onTestFinished(() => server.stop());
  const late = await subscribe({ ...service, call: callAt(server.url) });
  onTestFinished(() => late.receiver.close());

  await emit(service, late.workspace);
  await emitTogether(service, late.workspace, 100);
  await emitTogether(service, early.workspace, 100);
  await untilAll(service, early.workspace, ({ status }) => status === 'succeeded');
  await held(lacking.worker.metricsUrl, 1);
  await untouched(service, late.workspace);
  expect(lacking.lines('key missing in SECRETS_KEYS')).toHaveLength(1);
  const ping = `/api/workspaces/${late.workspace.id}/webhooks/${late.endpoint.id}/test`;
  expect(await service.call(late.workspace.key, 'POST', ping)).toMatchObject({
    status: 503,
    body: { code: 'SERVICE_UNAVAILABLE' },
  });
  expect(late.receiver.received).toEqual([]);

  await service.startWorker({}, { SECRETS_KEYS: `${NEW},${OLD}` });
  await untilReceived(late.receiver, 101);
  const rows = await untilAll(service, late.workspace, ({ status }) => status === 'succeeded');
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  for (const { raw, headers } of late.receiver.received) verifyWebhook(raw, headers, late.endpoint.secret);
});

it('a damaged secret gives its begun attempts back, holds up nobody else, and is read again once it is mended', async () => {
  const { service, workspace, receiver, endpoint } = await serveOne(onTestFinished);
  const { worker, lines } = await startLogged(service, { WEBHOOK_RUNS_PER_SECOND: '0' });
  const healthy = await subscribe(service);
  onTestFinished(() => healthy.receiver.close());
  const mend = await damage(service, endpoint.id);
  await emitTogether(service, workspace, 50);
  await emitTogether(service, healthy.workspace, 50);
  await untilAll(service, healthy.workspace, ({ status }) => status === 'succeeded');
  await held(worker.metricsUrl, 1);
  await eventually(
    () => service.db.selectFrom('webhook_open').select('id').where('begun', '>', 0).execute(),
    (begun) => begun.length === 0,
  );
  await untouched(service, workspace);
  expect(receiver.received).toEqual([]);
  expect(lines('secret not readable')).toHaveLength(1);

  await mend();
  await service.startWorker();
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  for (const { raw, headers } of receiver.received) verifyWebhook(raw, headers, endpoint.secret);
});

it('a run whose secret cannot be read keeps its delivery and its number, also when the receiver cannot be dialled', async () => {
  const { service, workspace, receiver, endpoint } = await serveOne(onTestFinished);
  const mend = await damage(service, endpoint.id);
  const [id] = await emit(service, workspace);
  if (id === undefined) throw new Error('nothing stored');
  await service.db.updateTable('webhook_open').set({ in_run: true, attempts: 2, begun: 2 }).execute();
  const sender = createWebhookSender({
    guard: createAddressGuard({ allowedNetworks: service.config.WEBHOOK_ALLOWED_NETWORKS }),
  });
  onTestFinished(() => sender.close());
  const unreadable: string[] = [];
  const { attemptDelivery } = createWebhookActivities({
    db: service.db,
    sender,
    secrets: createSecretRing(service.config.SECRETS_KEYS),
    takeClaimed: () => undefined,
    onUnreadable: (endpointId) => unreadable.push(endpointId),
    onAttemptBegan: () => undefined,
    onAttemptEnded: () => undefined,
  });
  const attempt = () => new MockActivityEnvironment({ attempt: 1 }).run(attemptDelivery, id, 2);
  const open = () => service.db.selectFrom('webhook_open').selectAll().executeTakeFirstOrThrow();
  expect(await attempt()).toEqual({ kind: 'held', attempts: 2 });
  await service.db.updateTable('webhook_endpoints').set({ url: 'http://10.0.0.1/' }).execute();
  expect(await attempt()).toEqual({ kind: 'held', attempts: 2 });
  expect(await open()).toMatchObject({ in_run: true, attempts: 2, begun: 2, begun_token: null });
  expect(unreadable).toEqual([endpoint.id, endpoint.id]);
  expect(receiver.received).toEqual([]);

  await service.db.updateTable('webhook_endpoints').set({ url: receiver.url }).execute();
  await mend();
  expect(await attempt()).toEqual({ kind: 'recorded', number: 3 });
  expect(receiver.received).toHaveLength(1);
}, 30_000);

/** Replaces the secret by another endpoint's. @returns puts it back */
async function damage(service: TestService, id: Parameters<typeof readSecret>[1]) {
  const secret = await readSecret(service, id);
  const set = (text: string) =>
    service.db.updateTable('webhook_endpoints').set({ secret: text }).where('id', '=', id).execute();
  const other = await subscribe(service);
  await other.receiver.close();
  await set(await readSecret(service, other.endpoint.id));
  return () => set(secret);
}

const readSecret = async (
  service: TestService,
  id: Awaited<ReturnType<typeof subscribe>>['endpoint']['id'],
) => {
  const query = service.db.selectFrom('webhook_endpoints').select('secret').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).secret;
};

const callAt =
  (url: string): TestService['call'] =>
  async (key, method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
