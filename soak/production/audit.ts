import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { DeliveryStatus } from '../../src/db/tables.ts';
import type { DeliveryId, EventId } from '../../src/ids.ts';
import { MAX_ATTEMPTS } from '../../src/webhooks/attempts/schedule.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';

/** A receiver that remembers each send by its delivery id, and the body it came with. */
export interface Auditor {
  readonly receiver: Receiver;
  /** How often each delivery arrived, and its bytes in hex. */
  readonly arrived: ReadonlyMap<string, { times: number; body: string }>;
  /** What was signed or repeated wrongly. */
  readonly problems: readonly string[];
  /** Called once the endpoint is registered. */
  trust(secret: string): void;
}

export async function startAuditor(): Promise<Auditor> {
  const receiver = await startReceiver();
  const arrived = new Map<string, { times: number; body: string }>();
  const problems: string[] = [];
  let secret = '';
  receiver.answer = ({ raw, headers }) => {
    receiver.received.length = 0;
    try {
      const deliveryId = verifyWebhook(raw, headers, secret).deliveryId ?? '';
      const body = raw.toString('hex');
      const seen = arrived.get(deliveryId) ?? { times: 0, body };
      if (seen.body !== body) problems.push(`${deliveryId} came with two bodies`);
      seen.times += 1;
      arrived.set(deliveryId, seen);
    } catch (error) {
      problems.push(String(error));
    }
    return 204;
  };
  return {
    receiver,
    arrived,
    problems,
    trust(given) {
      secret = given;
    },
  };
}

/** What is still under way. */
export async function countOpen(db: Database): Promise<Record<'deliveries' | 'jobs' | 'holds', number>> {
  const { rows } = await sql<{ deliveries: number; jobs: number; holds: number }>`
    SELECT (SELECT count(*) FROM webhook_open) AS deliveries,
           (SELECT count(*) FROM jobs WHERE ended_at IS NULL) AS jobs,
           (SELECT count(*) FROM holds WHERE status = 'open') AS holds`.execute(db);
  return rows[0] ?? { deliveries: 0, jobs: 0, holds: 0 };
}

export interface Findings {
  readonly events: number;
  readonly deliveries: number;
  readonly sends: number;
  /** Sends beyond the first of a delivery: allowed, under the same id. */
  readonly repeats: number;
  readonly attempts: ReadonlyMap<number, number>;
  readonly jobs: Readonly<Record<string, number>>;
  readonly wallet: { readonly balance: number; readonly reserved: number; readonly ledger: number };
  /** What must not be; empty when everything holds. */
  readonly problems: string[];
}

/** An event and a delivery of it, wherever that is; nulls where it has none. */
interface StoredDelivery {
  readonly event: EventId;
  readonly type: string;
  readonly body: Buffer;
  readonly id: DeliveryId | null;
  readonly status: DeliveryStatus | null;
  readonly attempts: number | null;
  readonly error_message: string | null;
}

/** Compares what is stored with what arrived, and the books with each other. */
export async function audit(
  db: Database,
  auditor: Auditor,
  acceptedJobs: ReadonlySet<string>,
): Promise<Findings> {
  const problems = [...auditor.problems];
  const { rows } = await sql<StoredDelivery>`
    SELECT event.id AS event, event.type, event.body, delivery.id, delivery.status, delivery.attempts,
      delivery.error_message
    FROM events AS event
    LEFT JOIN (SELECT id, event_id, status, attempts, error_message FROM webhook_open
      UNION ALL SELECT id, event_id, status, attempts, error_message FROM webhook_log) AS delivery
      ON delivery.event_id = event.id`.execute(db);
  const attempts = new Map<number, number>();
  const known = new Set<string>();
  for (const row of rows) {
    if (row.id === null) {
      problems.push(`event ${row.event} (${row.type}) has no delivery`);
      continue;
    }
    known.add(row.id);
    const made = row.attempts ?? 0;
    attempts.set(made, (attempts.get(made) ?? 0) + 1);
    if (made > MAX_ATTEMPTS) problems.push(`delivery ${row.id} was tried ${made} times`);
    const seen = auditor.arrived.get(row.id);
    if (seen === undefined) problems.push(`delivery ${row.id} never arrived: ${row.error_message}`);
    else if (seen.body !== row.body.toString('hex'))
      problems.push(`delivery ${row.id} arrived with another body`);
    if (row.status !== 'succeeded')
      problems.push(`delivery ${row.id} is ${row.status}: ${row.error_message}`);
  }
  if (known.size !== new Set(rows.map(({ event }) => event)).size)
    problems.push('an event has two deliveries');
  const unknown = [...auditor.arrived.keys()].filter((id) => !known.has(id));
  if (unknown.length > 0) problems.push(`${unknown.length} delivery ids arrived that are not stored`);

  const jobs = await db.selectFrom('jobs').select(['id', 'status', 'error_message']).execute();
  const stored = new Set<string>(jobs.map(({ id }) => id));
  const lost = [...acceptedJobs].filter((id) => !stored.has(id));
  if (lost.length > 0) problems.push(`${lost.length} jobs were accepted and are not stored`);
  for (const job of jobs) {
    if (job.status !== 'COMPLETED') problems.push(`job ${job.id} is ${job.status}: ${job.error_message}`);
  }
  const open = await countOpen(db);
  if (open.holds > 0) problems.push(`${open.holds} holds are open`);
  const { rows: books } = await sql<{ balance: number; reserved: number; ledger: number }>`
    SELECT balance, reserved, (SELECT sum(amount)::bigint FROM ledger_entries l
                               WHERE l.workspace_id = w.workspace_id) AS ledger
    FROM wallets w`.execute(db);
  const wallet = books[0] ?? { balance: 0, reserved: 0, ledger: 0 };
  if (books.length !== 1) problems.push(`${books.length} wallets`);
  if (wallet.reserved !== 0) problems.push(`${wallet.reserved} credits are still reserved`);
  if (wallet.ledger !== wallet.balance)
    problems.push(`the ledger says ${wallet.ledger}, the balance ${wallet.balance}`);
  const sends = [...auditor.arrived.values()].reduce((sum, { times }) => sum + times, 0);
  const counted = Map.groupBy(jobs, ({ status }) => status);
  return {
    events: rows.length,
    deliveries: known.size,
    sends,
    repeats: sends - auditor.arrived.size,
    attempts,
    jobs: Object.fromEntries([...counted].map(([status, of]) => [status, of.length])),
    wallet,
    problems,
  };
}
