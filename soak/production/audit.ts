import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { instantOf } from '../../src/ids.ts';
import { MAX_ATTEMPTS } from '../../src/webhooks/attempts/schedule.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { type Fault, metBy } from '../support/evidence.ts';
import type { ApiLoad } from './api-load.ts';
import { type RecordedDelivery, readRecord } from './record.ts';

/** The sends of one delivery. */
export interface Arrived {
  /** When each came, in milliseconds since the epoch. */
  readonly at: number[];
  /** SHA-256 of the body, in hex. */
  readonly body: string;
  /** Whether the first was answered 503 on purpose. */
  readonly refused: boolean;
  /** Those that came over a connection that had carried another request. */
  onReused: number;
}

/** A receiver that remembers each send by its delivery id, and now and then refuses the first. */
export interface Auditor {
  readonly receiver: Receiver;
  readonly arrived: ReadonlyMap<string, Arrived>;
  /** The longest time without any send, in milliseconds, and when it ended. */
  readonly gap: { ms: number; endedAt: number };
  /** What was signed or repeated wrongly. */
  readonly problems: readonly string[];
  /** Called once the endpoint is registered. */
  trust(secret: string): void;
}

/** Share of deliveries whose first send is answered 503. */
const REFUSED = 0.01;

export async function startAuditor(): Promise<Auditor> {
  const receiver = await startReceiver();
  const arrived = new Map<string, Arrived>();
  const problems: string[] = [];
  const gap = { ms: 0, endedAt: 0 };
  let secret = '';
  let last = 0;
  let newest = 0;
  receiver.answer = ({ raw, headers, at, connection }) => {
    receiver.received.length = 0;
    if (last > 0 && at - last > gap.ms) Object.assign(gap, { ms: at - last, endedAt: at });
    last = at;
    const isReused = connection <= newest;
    newest = Math.max(newest, connection);
    try {
      const deliveryId = verifyWebhook(raw, headers, secret).deliveryId ?? '';
      const body = createHash('sha256').update(raw).digest('hex');
      const seen = arrived.get(deliveryId) ?? {
        at: [],
        body,
        refused: Math.random() < REFUSED,
        onReused: 0,
      };
      if (seen.body !== body) problems.push(`${deliveryId} came with two bodies`);
      seen.at.push(at);
      if (isReused) seen.onReused += 1;
      arrived.set(deliveryId, seen);
      return seen.refused && seen.at.length === 1 ? 503 : 204;
    } catch (error) {
      problems.push(String(error));
      return 204;
    }
  };
  return {
    receiver,
    arrived,
    gap,
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
  /** Deliveries that ended in a run of their own. */
  readonly inRuns: number;
  readonly sends: number;
  /** Answered 503 on purpose. */
  readonly refused: number;
  /** Sends beyond the first of a delivery and those that a 503 asked for: allowed, under the same id. */
  readonly repeats: number;
  /** Milliseconds from a delivery's being stored to its first send. */
  readonly waits: readonly number[];
  readonly attempts: ReadonlyMap<number, number>;
  readonly jobs: Readonly<Record<string, number>>;
  readonly wallet: { readonly balance: number; readonly reserved: number; readonly ledger: number };
  /** What must not be; empty when everything holds. */
  readonly problems: string[];
}

/**
 * Compares what was acknowledged, what the record says was stored, what arrived and what was counted, and the books
 * with each other.
 */
export async function audit(
  db: Database,
  auditor: Auditor,
  load: ApiLoad,
  kills: readonly Fault[],
): Promise<Findings> {
  const rows = await readRecord(db);
  const problems = [
    ...auditor.problems,
    ...findUnstored(rows, load.owed),
    ...rows.flatMap((row) => findLost(row, auditor.arrived, kills)),
  ];
  const known = new Set<string>(rows.flatMap(({ id }) => id ?? []));
  if (rows.length !== new Set(rows.map(({ event }) => event)).size)
    problems.push('an event has two deliveries');
  const unknown = [...auditor.arrived.keys()].filter((id) => !known.has(id));
  if (unknown.length > 0) problems.push(`${unknown.length} delivery ids arrived that were never stored`);

  const jobs = await db.selectFrom('jobs').select(['id', 'status', 'error_message']).execute();
  const stored = new Set<string>(jobs.map(({ id }) => id));
  const lost = [...load.jobs].filter((id) => !stored.has(id));
  if (lost.length > 0) problems.push(`${lost.length} jobs were accepted and are not stored`);
  for (const job of jobs) {
    if (job.status !== 'COMPLETED') problems.push(`job ${job.id} is ${job.status}: ${job.error_message}`);
  }
  const open = await countOpen(db);
  for (const [what, count] of Object.entries(open)) {
    if (count > 0) problems.push(`${count} ${what} are open`);
  }
  const { rows: books } = await sql<{ balance: number; reserved: number; ledger: number }>`
    SELECT balance, reserved, (SELECT sum(amount)::bigint FROM ledger_entries l
                               WHERE l.workspace_id = w.workspace_id) AS ledger
    FROM wallets w`.execute(db);
  const wallet = books[0] ?? { balance: 0, reserved: 0, ledger: 0 };
  if (books.length !== 1) problems.push(`${books.length} wallets`);
  if (wallet.reserved !== 0) problems.push(`${wallet.reserved} credits are still reserved`);
  if (wallet.ledger !== wallet.balance)
    problems.push(`the ledger says ${wallet.ledger}, the balance ${wallet.balance}`);

  const all = [...auditor.arrived];
  const sends = all.reduce((sum, [, { at }]) => sum + at.length, 0);
  const refused = all.filter(([, seen]) => seen.refused).length;
  const attempts = new Map<number, number>();
  for (const { attempts: made } of rows) {
    if (made !== null) attempts.set(made, (attempts.get(made) ?? 0) + 1);
  }
  const counted = Map.groupBy(jobs, ({ status }) => status);
  return {
    events: new Set(rows.map(({ event }) => event)).size,
    deliveries: known.size,
    inRuns: rows.filter(({ in_run }) => in_run).length,
    sends,
    refused,
    repeats: sends - all.length - refused,
    waits: all.map(([id, { at }]) => (at[0] ?? 0) - (instantOf(id)?.getTime() ?? 0)),
    attempts,
    jobs: Object.fromEntries([...counted].map(([status, of]) => [status, of.length])),
    wallet,
    problems,
  };
}

/** Events that a request was promised, and that are not there as often as it was, or oftener. */
function findUnstored(rows: readonly RecordedDelivery[], owed: ApiLoad['owed']): string[] {
  const problems: string[] = [];
  const stored = Map.groupBy(rows, ({ type, article }) => `${type} ${article}`);
  for (const [key, { surely, perhaps }] of owed) {
    const found = stored.get(key)?.length ?? 0;
    if (found < surely || found > surely + perhaps)
      problems.push(`${key}: ${found} events, ${surely} promised and ${perhaps} perhaps`);
  }
  for (const key of stored.keys()) if (!owed.has(key)) problems.push(`${key}: nobody asked for this event`);
  return problems;
}

/** What is off with a delivery. */
function findLost(row: RecordedDelivery, arrived: Auditor['arrived'], kills: readonly Fault[]): string[] {
  const { id, event, type, status, attempts } = row;
  if (id === null) return [`event ${event} (${type}) has no delivery`];
  const seen = arrived.get(id);
  if (seen === undefined) return [`delivery ${id} never arrived: ${status}, ${row.error_message}`];
  const problems: string[] = [];
  const beyond = seen.at.length - (attempts ?? 0);
  if (seen.body !== row.body) problems.push(`delivery ${id} arrived with another body`);
  if (status !== 'succeeded') problems.push(`delivery ${id} is ${status ?? 'open'}: ${row.error_message}`);
  if ((attempts ?? 0) > MAX_ATTEMPTS) problems.push(`delivery ${id} was tried ${attempts} times`);
  if (beyond > metBy(kills, seen.at) + seen.onReused)
    problems.push(`delivery ${id}: ${seen.at.length} sends for ${attempts} attempts`);
  return problems;
}
