import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { releaseStrandedHolds } from '../../src/reconcile/jobs.ts';
import { releaseOperation, reserveOperation } from '../../src/suggestions/operations.ts';
import { categoryCalls } from '../categories/support.ts';
import { createArticle } from '../support/articles.ts';
import { completion } from '../support/chat-completions.ts';
import { type EngineServer, silence, startEngineServer } from '../support/engine-server.ts';
import { startProcess } from '../support/processes.ts';
import { startTestService, type TestService, type TestWorkspace } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { hang } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { createStandIn, suggesting } from './support.ts';

let temporal: TcpProxy;
let service: TestService;
let models: EngineServer;
let calls: ReturnType<typeof suggesting>;
let workspace: TestWorkspace;
let articleId: string;
const model = createStandIn();

/** A service behind a door to Temporal that can be shut, and whose requests wait shortly. */
async function start(env: Record<string, string> = {}): Promise<void> {
  service = await startTestService({ TEMPORAL_ADDRESS: temporal.address, AI_WAIT_SECONDS: '2', ...env });
  calls = suggesting(service);
  workspace = await service.workspace(10);
  await categoryCalls(service).category(workspace, { en: 'Garden' });
  articleId = (await createArticle(service.db, workspace, await service.project(workspace))).id;
}

beforeEach(async () => {
  model.reset();
  models = await startEngineServer(() => silence);
  const [host = '', port = ''] = inject('temporalAddress').split(':');
  temporal = await startTcpProxy({ host, port: Number(port) });
});
afterEach(async () => {
  await temporal.restore().catch(() => undefined);
  await service.stop();
  await temporal.close();
  await models.close();
});

async function expectReleased(): Promise<void> {
  expect(await calls.wallet(workspace)).toEqual({ balance: 10, reserved: 0 });
  expect(await calls.operations(workspace)).toMatchObject([{ status: 'failed', hold: 'released' }]);
}

async function expectUnavailable(): Promise<void> {
  const answer = await calls.forArticle(workspace, articleId);
  expect([answer.status, answer.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  await expectReleased();
}

const onlyOperation = async () => {
  const [operation] = await calls.operations(workspace);
  if (operation === undefined) throw new Error('there is no operation');
  return operation;
};

describe('a database that refuses the end', () => {
  it.each([
    ['the charge', 'NEW.balance < OLD.balance'],
    ['the charge and the release', 'NEW.reserved < OLD.reserved'],
  ])('%s: 503, nothing charged, and the credits are free again', async (_, when) => {
    await start({ AI_WAIT_SECONDS: '30' });
    await service.startWorker({ suggestions: model });
    await sql`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22003'; END $$`.execute(service.db);
    await sql`CREATE TRIGGER refuse BEFORE UPDATE ON wallets FOR EACH ROW WHEN (${sql.raw(when)})
      EXECUTE FUNCTION refuse()`.execute(service.db);
    const answer = await calls.forArticle(workspace, articleId);
    expect([answer.status, answer.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(await onlyOperation()).toMatchObject({ status: 'failed' });
    await sql`DROP TRIGGER refuse ON wallets`.execute(service.db);
    await releaseStrandedHolds({
      db: service.db,
      minimumAgeMs: 0,
      onError: (_id: string, error: unknown) => {
        throw error;
      },
    });
    await expectReleased();
  });
});

it('what the end of an operation could not give back is told by name, and the operation has ended', async () => {
  await start();
  const { id } = await reserve();
  await sql`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22003'; END $$`.execute(service.db);
  for (const table of ['wallets', 'ai_operation_usage']) {
    await sql`CREATE TRIGGER refuse BEFORE UPDATE ON ${sql.table(table)} FOR EACH ROW
      EXECUTE FUNCTION refuse()`.execute(service.db);
  }
  const told: string[] = [];
  expect(await releaseOperation(service.db, id, 'failed', (part) => told.push(part))).toBe(true);
  expect(told).toEqual([`month's count of AI operation ${id}`, `hold of AI operation ${id}`]);
  expect(await onlyOperation()).toMatchObject({ status: 'failed' });
});

describe('without an answer in time', () => {
  it('no worker there: 503 and released, and the worker that comes later neither asks nor charges', async () => {
    await start();
    await expectUnavailable();
    expect(await calls.used(workspace)).toBe(0);
    await service.startWorker({ suggestions: model });
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    const { workflow_id } = await onlyOperation();
    const handle = new Client({ connection }).workflow.getHandle(workflow_id);
    await eventually(
      () => handle.describe(),
      (run) => run.status.name !== 'RUNNING',
    );
    await connection.close();
    expect(model.asked).toEqual([]);
    await expectReleased();
  });

  it('Temporal away: 503 and released, and it works again when Temporal is back', async () => {
    await start({ AI_WAIT_SECONDS: '30' });
    await service.startWorker({ suggestions: model });
    await temporal.cut();
    await expectUnavailable();
    expect(await calls.used(workspace)).toBe(0);
    await temporal.restore();
    await eventually(
      () => calls.forArticle(workspace, articleId),
      ({ status }) => status === 200,
    );
  }, 120_000);

  it('a model that hangs: 503 and released after the wait, and the call to it is given up', async () => {
    await start();
    let given = false;
    model.reply = async ({ signal }) => {
      try {
        return await hang(signal);
      } finally {
        given = true;
      }
    };
    await service.startWorker({ suggestions: model });
    await expectUnavailable();
    await eventually(
      async () => given,
      (value) => value,
    );
    expect(await calls.used(workspace)).toBe(1);
  });

  it('a run that an operator terminated: 503 at once and released', async () => {
    await start({ AI_WAIT_SECONDS: '30' });
    model.reply = ({ signal }) => hang(signal);
    await service.startWorker({ suggestions: model });
    const answer = calls.forArticle(workspace, articleId);
    await eventually(
      async () => model.asked.length,
      (asked) => asked === 1,
    );
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    const { workflow_id } = await onlyOperation();
    await new Client({ connection }).workflow.getHandle(workflow_id).terminate('enough');
    await connection.close();
    expect((await answer).status).toBe(503);
    await expectReleased();
  });

  it('nobody listening where the model should be: 503, and no operation is counted', async () => {
    await models.close();
    await start({ AI_BASE_URL: `${models.url}/v1`, AI_MODEL: 'test-model', AI_WAIT_SECONDS: '30' });
    await service.startWorker();
    await expectUnavailable();
    expect(await calls.used(workspace)).toBe(0);
  });
});

describe('a worker killed', () => {
  const fits = JSON.stringify({
    language: 'en',
    existing: [{ number: 1, reason: 'about gardens' }],
    proposed: [],
  });

  it('between asking and settling: another one charges once, without asking again', async () => {
    await start({ AI_BASE_URL: `${models.url}/v1`, AI_MODEL: 'test-model', AI_WAIT_SECONDS: '60' });
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    models.answer = async () => {
      await gate;
      return completion(fits);
    };
    const first = await startProcess('worker.ts', service.env);
    const answer = calls.forArticle(workspace, articleId);
    await eventually(
      async () => models.requests.length,
      (asked) => asked === 1,
    );
    // The settlement has to wait for the wallet, and its worker is killed while it does.
    await service.db.transaction().execute(async (tx) => {
      await tx
        .selectFrom('wallets')
        .select('balance')
        .where('workspace_id', '=', workspace.id)
        .forUpdate()
        .execute();
      release();
      await eventually(
        async () => (await onlyOperation()).result,
        (result) => result !== null,
      );
      first.kill('SIGKILL');
      await first.ended;
    });
    const second = await startProcess('worker.ts', service.env);
    const { status, body } = await answer;
    expect([status, body.credits]).toEqual([200, 1]);
    expect(models.requests).toHaveLength(1);
    expect(await calls.operations(workspace)).toMatchObject([{ status: 'settled', hold: 'settled' }]);
    expect(await calls.wallet(workspace)).toEqual({ balance: 9, reserved: 0 });
    expect(await calls.ledger(workspace)).toBe(9);
    second.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  }, 120_000);

  it('while the model works: another one asks again, and charges once', async () => {
    await start({ AI_BASE_URL: `${models.url}/v1`, AI_MODEL: 'test-model', AI_WAIT_SECONDS: '60' });
    models.answer = () => (models.requests.length > 1 ? completion(fits) : silence);
    const first = await startProcess('worker.ts', service.env);
    const answer = calls.forArticle(workspace, articleId);
    await eventually(
      async () => models.requests.length,
      (asked) => asked === 1,
    );
    first.kill('SIGKILL');
    await first.ended;
    const second = await startProcess('worker.ts', service.env);
    const { status, body } = await answer;
    expect([status, body.credits]).toEqual([200, 1]);
    expect(await calls.used(workspace)).toBe(1);
    expect(await calls.wallet(workspace)).toEqual({ balance: 9, reserved: 0 });
    second.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  }, 120_000);
});

describe('a server killed while it waits', () => {
  it('costs the price at most: the run settles by itself', async () => {
    await start({ AI_WAIT_SECONDS: '30' });
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reply = model.reply;
    model.reply = async (request) => {
      await gate;
      return reply(request);
    };
    await service.startWorker({ suggestions: model });
    const server = await startProcess('server.ts', { ...service.env, PORT: '0' });
    const [, url = ''] = /listening on (http:[^"]+)/.exec(server.log()) ?? [];
    const lost = fetch(new URL(`/api/articles/${articleId}/categories/suggest`, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.key}` },
    }).catch(() => null);
    await eventually(
      async () => model.asked.length,
      (asked) => asked === 1,
    );
    server.kill('SIGKILL');
    expect(await lost).toBeNull();
    release();
    await eventually(onlyOperation, ({ status }) => status === 'settled');
    expect(await calls.wallet(workspace)).toEqual({ balance: 9, reserved: 0 });
  });

  it('before its run began: reconcile ends the operation, releases the hold and gives the month its count back', async () => {
    await start({ RECONCILE_AFTER_SECONDS: '0' });
    await reserve();
    expect(await calls.wallet(workspace)).toEqual({ balance: 10, reserved: 1 });
    expect(await calls.used(workspace)).toBe(1);
    await service.db
      .updateTable('ai_operations')
      .set({ created_at: sql<Date>`now() - interval '3 minutes'` })
      .execute();
    await service.startWorker({ suggestions: model });
    await eventually(onlyOperation, ({ hold }) => hold === 'released', 90_000);
    await expectReleased();
    expect(await calls.used(workspace)).toBe(0);
  }, 120_000);

  it('and its row lost: reconcile releases a hold without an operation', async () => {
    await start({ RECONCILE_AFTER_SECONDS: '0' });
    await reserve();
    await service.db.deleteFrom('ai_operations').execute();
    await service.startWorker({ suggestions: model });
    await eventually(
      () => calls.wallet(workspace),
      ({ reserved }) => reserved === 0,
      90_000,
    );
  }, 120_000);
});

/** What a server leaves that dies right after its transaction. */
const reserve = () =>
  service.db.transaction().execute((tx) =>
    reserveOperation(tx, workspace.context, {
      kind: 'article_categories',
      targetId: articleId,
      credits: 1,
      audit: { action: 'categories.suggested', targetType: 'article' },
    }),
  );
