import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { releaseStrandedHolds } from '../../src/reconcile/holds.ts';
import { releaseOperation } from '../../src/suggestions/operations.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { connectOperator, type Operator } from '../support/temporal.ts';
import { hang } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { createStandIn, type OneOperation, oneOperation } from './support.ts';

const model = createStandIn();
let operator: Operator;
/** What is being tested now. */
let service: TestService;
let one: OneOperation;

beforeAll(async () => {
  operator = await connectOperator();
});
afterAll(() => operator.close());
beforeEach(async () => {
  model.reset();
  one = await oneOperation(service);
});

async function expectUnavailable(): Promise<void> {
  const answer = await one.ask();
  expect([answer.status, answer.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  await one.expectReleased();
}

/** Lets Postgres refuse updates of a table that belong to the workspace, of some rows alone, until it is told to stop. */
async function refuse(table: string, when = 'true'): Promise<() => Promise<unknown>> {
  await sql`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22003'; END $$`.execute(service.db);
  await sql`CREATE TRIGGER refuse BEFORE UPDATE ON ${sql.table(table)} FOR EACH ROW
    WHEN (NEW.workspace_id = ${sql.lit(one.workspace.id)} AND ${sql.raw(when)})
    EXECUTE FUNCTION refuse()`.execute(service.db);
  return () => sql`DROP TRIGGER refuse ON ${sql.table(table)}`.execute(service.db);
}

describe('with patient requests', () => {
  let temporal: TcpProxy;
  beforeAll(async () => {
    const [host = '', port = ''] = inject('temporalAddress').split(':');
    temporal = await startTcpProxy({ host, port: Number(port) });
    service = await startTestService({ TEMPORAL_ADDRESS: temporal.address, AI_WAIT_SECONDS: '30' });
    await service.startWorker({ suggestions: model });
  });
  afterAll(async () => {
    await service.stop();
    await temporal.close();
  });

  describe('a database that refuses the end', () => {
    it.each([
      ['the charge', 'NEW.balance < OLD.balance'],
      ['the charge and the release', 'NEW.reserved < OLD.reserved'],
    ])('%s: 503, nothing charged, and the credits are free again', async (_, when) => {
      const allow = await refuse('wallets', when);
      const answer = await one.ask();
      expect([answer.status, answer.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(await one.operation()).toMatchObject({ status: 'failed' });
      await allow();
      const onError = (_id: string, error: unknown) => {
        throw error;
      };
      const walk = { from: null, until: Number.POSITIVE_INFINITY, onPlace: () => undefined };
      await releaseStrandedHolds({ db: service.db, minimumAgeMs: 0, onError }, walk);
      await one.expectReleased();
    });
  });

  it('what the end of an operation could not give back is told by name, and the operation has ended', async () => {
    const { id } = await one.reserve();
    const allow = [await refuse('wallets'), await refuse('ai_operation_usage')];
    const told: string[] = [];
    expect(await releaseOperation(service.db, id, 'failed', (part) => told.push(part))).toBe(true);
    expect(told).toEqual([`month's count of AI operation ${id}`, `hold of AI operation ${id}`]);
    expect(await one.operation()).toMatchObject({ status: 'failed' });
    for (const again of allow) await again();
  });

  it('a run that an operator terminated: 503 at once and released', async () => {
    model.reply = ({ signal }) => hang(signal);
    const answer = one.ask();
    await eventually(
      async () => model.asked.length,
      (asked) => asked === 1,
    );
    const { workflow_id } = await one.operation();
    await operator.client.workflow.getHandle(workflow_id).terminate('enough');
    expect((await answer).status).toBe(503);
    await one.expectReleased();
  });

  it('Temporal away: 503 and released, and it works again when Temporal is back', async () => {
    await temporal.cut();
    await expectUnavailable();
    expect(await one.used()).toBe(0);
    await temporal.restore();
    await eventually(
      () => one.ask(),
      ({ status }) => status === 200,
    );
  }, 120_000);
});

describe('with requests that wait shortly', () => {
  let working: ReturnType<TestService['startWorker']> | undefined;
  const startWorker = () => {
    working ??= service.startWorker({ suggestions: model });
    return working;
  };
  beforeAll(async () => {
    service = await startTestService({ AI_WAIT_SECONDS: '2' });
  });
  afterAll(() => service.stop());

  it('no worker there: 503 and released, and the worker that comes later neither asks nor charges', async () => {
    await expectUnavailable();
    expect(await one.used()).toBe(0);
    await startWorker();
    await operator.closed((await one.operation()).workflow_id);
    expect(model.asked).toEqual([]);
    await one.expectReleased();
  });

  it('a model that hangs: 503 and released after the wait, and the call to it is given up', async () => {
    let given = false;
    model.reply = async ({ signal }) => {
      try {
        return await hang(signal);
      } finally {
        given = true;
      }
    };
    await startWorker();
    await expectUnavailable();
    await eventually(
      async () => given,
      (value) => value,
    );
    expect(await one.used()).toBe(1);
  });
});

describe('with nobody where the model should be', () => {
  beforeAll(async () => {
    const gone = await startReceiver();
    await gone.close();
    const AI_BASE_URL = `${gone.origin}/v1`;
    service = await startTestService({ AI_BASE_URL, AI_MODEL: 'test-model', AI_WAIT_SECONDS: '30' });
    await service.startWorker();
  });
  afterAll(() => service.stop());

  it('nobody listening where the model should be: 503, and no operation is counted', async () => {
    await expectUnavailable();
    expect(await one.used()).toBe(0);
  });
});
