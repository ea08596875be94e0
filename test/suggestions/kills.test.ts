import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { completion } from '../support/chat-completions.ts';
import { type EngineServer, silence, startEngineServer } from '../support/engine-server.ts';
import { startProcess } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connectOperator, reconcileNow } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';
import { createStandIn, type OneOperation, oneOperation } from './support.ts';

let models: EngineServer;
let service: TestService;
let one: OneOperation;

beforeAll(async () => {
  models = await startEngineServer(() => silence);
  service = await startTestService({ AI_BASE_URL: `${models.url}/v1`, AI_MODEL: 'test-model' });
});
afterAll(async () => {
  await service.stop();
  await models.close();
});
beforeEach(async () => {
  models.requests.length = 0;
  one = await oneOperation(service);
});

it('a worker killed between asking and settling, or while the model works: another one charges once, and asks again only for the latter', async () => {
  const fits = completion(
    JSON.stringify({ language: 'en', existing: [{ number: 1, reason: 'about gardens' }], proposed: [] }),
  );
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  models.answer = async () => {
    const asked = models.requests.length;
    if (asked === 1) await gate;
    return asked === 2 ? silence : fits;
  };
  const untilAsked = (times: number) =>
    eventually(
      async () => models.requests.length,
      (asked) => asked === times,
    );
  const [settling, working] = [one, await oneOperation(service)];
  const first = await startProcess('worker.ts', service.env);
  const settled = settling.ask();
  await untilAsked(1);
  const worked = working.ask();
  await untilAsked(2);
  // The settlement has to wait for the wallet, and its worker is killed while it does.
  await service.db.transaction().execute(async (tx) => {
    await tx
      .selectFrom('wallets')
      .select('balance')
      .where('workspace_id', '=', settling.workspace.id)
      .forUpdate()
      .execute();
    release();
    await eventually(
      async () => (await settling.operation()).result,
      (result) => result !== null,
    );
    first.kill('SIGKILL');
    await first.ended;
  });
  const second = await startProcess('worker.ts', service.env);
  for (const { status, body } of await Promise.all([settled, worked])) {
    expect([status, body.credits]).toEqual([200, 1]);
  }
  // The third is the second again, which had no response.
  expect(models.requests).toHaveLength(3);
  for (const each of [settling, working]) {
    expect(await each.operation()).toMatchObject({ status: 'settled', hold: 'settled' });
    expect(await each.used()).toBe(1);
    expect(await each.wallet()).toEqual({ balance: 9, reserved: 0 });
    expect(await each.ledger()).toBe(9);
  }
  second.kill('SIGTERM');
  expect(await second.ended).toBe(0);
}, 120_000);

describe('a server killed while it waits', () => {
  const model = createStandIn();
  /** Lets the round begin now that looks for what nobody ends; made when the worker has been there for a moment. */
  let reconcile: () => Promise<unknown>;
  beforeAll(async () => {
    await service.startWorker({ suggestions: model });
    const operator = await connectOperator();
    const prefix = service.config.TEMPORAL_TASK_QUEUE_PREFIX;
    reconcile = () => reconcileNow(operator.client, prefix, 'holds').catch(() => undefined);
    return () => operator.close();
  });

  it('costs the price at most: the run settles by itself', async () => {
    const { promise: gate, resolve: release } = Promise.withResolvers<void>();
    const { reply } = model;
    model.reply = async (request) => {
      await gate;
      return reply(request);
    };
    const server = await startProcess('server.ts', { ...service.env, PORT: '0' });
    const [, url = ''] = /listening on (http:[^"]+)/.exec(server.log()) ?? [];
    const lost = fetch(new URL(`/api/articles/${one.articleId}/categories/suggest`, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${one.workspace.key}` },
    }).catch(() => null);
    await eventually(
      async () => model.asked.length,
      (asked) => asked === 1,
    );
    server.kill('SIGKILL');
    expect(await lost).toBeNull();
    release();
    await eventually(one.operation, ({ status }) => status === 'settled');
    expect(await one.wallet()).toEqual({ balance: 9, reserved: 0 });
  });

  it('before its run began: reconcile ends the operation, releases the hold and gives the month its count back', async () => {
    const { id } = await one.reserve();
    expect(await one.wallet()).toEqual({ balance: 10, reserved: 1 });
    expect(await one.used()).toBe(1);
    await service.db
      .updateTable('ai_operations')
      .set({ created_at: sql<Date>`now() - interval '3 minutes'` })
      .where('id', '=', id)
      .execute();
    await eventually(
      () => reconcile().then(one.operation),
      ({ hold }) => hold === 'released',
    );
    await one.expectReleased();
    expect(await one.used()).toBe(0);
  });

  it('and its row lost: reconcile releases a hold without an operation', async () => {
    const { id } = await one.reserve();
    await service.db.deleteFrom('ai_operations').where('id', '=', id).execute();
    await eventually(
      () => reconcile().then(one.wallet),
      ({ reserved }) => reserved === 0,
    );
  });
});
