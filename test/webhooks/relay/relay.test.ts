import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import type { EndpointId } from '../../../src/ids.ts';
import { createAddressGuard } from '../../../src/outbound/resolver.ts';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { taskQueues } from '../../../src/temporal/task-queues.ts';
import { runState } from '../../../src/temporal/workflow-client.ts';
import { createBursts } from '../../../src/webhooks/relay/bursts.ts';
import { createCapacity } from '../../../src/webhooks/relay/capacity.ts';
import { createHeldEndpoints } from '../../../src/webhooks/relay/held-endpoints.ts';
import { createKnownEndpoints } from '../../../src/webhooks/relay/known-endpoints.ts';
import { startRelay } from '../../../src/webhooks/relay/relay.ts';
import { createRuns } from '../../../src/webhooks/relay/runs.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { createWebhookSender } from '../../../src/webhooks/sending/sender.ts';
import { register } from '../../support/events.ts';
import { startPaces } from '../../support/paces.ts';
import { logger, type TestWorkspace, useTestService } from '../../support/service.ts';
import { noSuspects } from '../../support/suspects.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { eventually } from '../../support/wait.ts';
import { storeDeliveries } from '../api/support/deliveries.ts';

const service = useTestService();

let workspace: TestWorkspace;
let endpointId: EndpointId;
let temporal: TcpProxy;
let client: Client;

beforeEach(async () => {
  workspace = await service.workspace();
  endpointId = (await register(service, workspace, 'http://127.0.0.1:9/')).id;
  const [host = '', port] = service.config.TEMPORAL_ADDRESS.split(':');
  temporal = await startTcpProxy({ host, port: Number(port) });
  const connection = await NativeConnection.connect({ address: temporal.address });
  client = new Client({ connection });
  return async () => {
    await connection.close();
    await temporal.close();
    await sql`DELETE FROM webhook_open`.execute(service.db);
  };
});

/** A relay whose runs and bursts no worker takes. */
function startOwn(runsPerSecond: number) {
  const { db } = service;
  const names = taskQueues('nobody-');
  const [capacity, known] = [createCapacity(), createKnownEndpoints()];
  const paces = startPaces(db);
  const wakes = new EventEmitter<{ wake: [] }>();
  const runs = createRuns(client, names, logger);
  const secrets = createSecretRing(service.config.SECRETS_KEYS);
  const sender = createWebhookSender({ guard: createAddressGuard({ allowedNetworks: [] }) });
  const bursts = createBursts({
    ...{ db, paces, sender, secrets, capacity, known, suspects: noSuspects, wake: () => wakes.emit('wake') },
    ...{
      onUnreadable: () => undefined,
      onAttemptBegan: () => undefined,
      onAttemptEnded: () => undefined,
      onError: () => undefined,
    },
  });
  const relay = startRelay({
    ...{ db, common: db, listenUrl: service.config.DATABASE_URL, client, names, logger },
    ...{
      runs,
      suspects: noSuspects,
      paces,
      bursts,
      capacity,
      known,
      held: createHeldEndpoints(logger, secrets.keyIds),
      wakes,
      runsPerSecond,
    },
  });
  return { relay, known };
}

it('forgets an endpoint that is deleted while it has something due', async () => {
  const { relay, known } = startOwn(0);
  try {
    const due = async () => known.due(performance.now()).map(({ id }) => id);
    await storeDeliveries(service.db, workspace, endpointId, { count: 7, state: 'pending' });
    await eventually(due, (ids) => ids.length === 1);
    const path = `/api/workspaces/${workspace.id}/webhooks/${endpointId}`;
    expect((await service.call(workspace.key, 'DELETE', path)).status).toBe(200);
    await eventually(due, (ids) => ids.length === 0, 10_000);
  } finally {
    await relay.stop();
  }
});

it('does not stop before the run is started of what its last claim took', async () => {
  const [id] = await storeDeliveries(service.db, workspace, endpointId, { count: 1, state: 'pending' });
  if (id === undefined) throw new Error('nothing stored');
  let hasStopped = false;
  const stopping = await service.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE webhook_open`.execute(tx);
    const { relay } = startOwn(10);
    await eventually(
      () => sql`SELECT FROM pg_locks WHERE NOT granted`.execute(service.db),
      ({ rows }) => rows.length > 0,
    );
    temporal.silence();
    return {
      stopped: relay.stop().then(() => {
        hasStopped = true;
      }),
    };
  });
  await eventually(
    () => service.db.selectFrom('webhook_open').select('in_run').where('id', '=', id).executeTakeFirst(),
    (row) => row?.in_run === true,
  );
  await sleep(500);
  expect(hasStopped).toBe(false);
  temporal.speak();
  await stopping.stopped;
  expect(await runState(client, deliveryWorkflowId(id))).toBe('running');
  await client.workflow.getHandle(deliveryWorkflowId(id)).terminate();
});
