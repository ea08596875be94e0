import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { prepare } from '../../../src/db/prepared.ts';
import type { EndpointId } from '../../../src/ids.ts';
import { availableAt, isInForce, rateAt, spent, waitAt } from '../../../src/webhooks/pace/pace.ts';
import { refuse } from '../../../src/webhooks/pace/refuse.ts';

/** What a receiver does with a request at an instant, in seconds: takes it, or refuses with Retry-After or without. */
export type Limiter = (at: number) => 'taken' | { readonly retryAfter: number | null };

/** A bucket that holds `size` tokens and gains `rate` a second. */
export function bucket(rate: number, size: number, says: boolean): Limiter {
  let tokens = size;
  let filledAt = 0;
  return (at) => {
    tokens = Math.min(size, tokens + (at - filledAt) * rate);
    filledAt = at;
    if (tokens < 1) return { retryAfter: says ? 1 : null };
    tokens -= 1;
    return 'taken';
  };
}

/** At most `rate` in each second of the clock. */
export function fixedWindow(rate: number, says: boolean): Limiter {
  let second = -1;
  let taken = 0;
  return (at) => {
    if (Math.floor(at) !== second) {
      second = Math.floor(at);
      taken = 0;
    }
    if (taken >= rate) return { retryAfter: says ? 1 : null };
    taken += 1;
    return 'taken';
  };
}

const instant = (at: number): RawBuilder<unknown> =>
  sql`(timestamptz '2030-01-01' + make_interval(secs => ${at}))`;

interface Seen {
  epoch: number;
  available: number;
  wait: number;
  rate: number;
}

interface Look {
  id: EndpointId;
  at: number;
  due: number;
}

/** A simulation looks ten thousands of times: built and planned once, and it spends what it sees. */
const lookAndSpend = prepare<Look, Seen>('test_look_and_spend', (_db, slot) => {
  const now = instant(slot('at'));
  const count = sql`least(seen.available, ${slot('due')}::integer)`;
  return sql<Seen>`
    WITH seen AS MATERIALIZED (
      SELECT pace.epoch, ${availableAt(now)} AS available, ${waitAt(now)} AS wait, ${rateAt(now)} AS rate
      FROM webhook_paces AS pace WHERE pace.endpoint_id = ${slot('id')} AND ${isInForce(now)}
    ), spending AS (
      UPDATE webhook_paces AS pace SET ${spent(count, now)} FROM seen
      WHERE pace.endpoint_id = ${slot('id')} AND ${count} > 0
    )
    SELECT * FROM seen`;
});

/** The pace of one endpoint, at instants of a clock of the test: seconds since its beginning. */
export function paceAt(db: Database, endpointId: EndpointId) {
  return {
    /** @param due spends as many of these as are available */
    async look(at: number, due = 0) {
      const [seen] = await lookAndSpend(db, { id: endpointId, at, due });
      return seen;
    },
    async spend(at: number, count: number) {
      await sql`UPDATE webhook_paces AS pace SET ${spent(sql`${count}::integer`, instant(at))}
        WHERE pace.endpoint_id = ${endpointId}`.execute(db);
    },
    refuse: (at: number, refusal: Omit<Parameters<typeof refuse>[1][number], 'endpointId'>) =>
      refuse(db, [{ endpointId, ...refusal }], instant(at)),
  };
}

export type Pace = ReturnType<typeof paceAt>;

/** Requests that a worker has open at once before it knows a receiver. */
const FIRST_IN_FLIGHT = 20;
/** From a refusal until its pace is stored. */
const STORED_S = 0.02;
/** How far apart a worker's rounds are, at least. */
const ROUND_S = 0.01;

export interface Simulated {
  readonly seconds: number;
  readonly requests: number;
  readonly refused: number;
  readonly givenUp: number;
}

/**
 * Sends `count` deliveries to a receiver, from so many workers, each refused one again after the waits of the schedule.
 * Ends when none is left, or after an hour of the test's clock.
 */
export async function simulate(
  pace: Pace,
  {
    count,
    limiter,
    workers,
  }: { readonly count: number; readonly limiter: Limiter; readonly workers: number },
): Promise<Simulated> {
  let fresh = count;
  const retries: { at: number; attempts: number }[] = [];
  const result = { seconds: 0, requests: 0, refused: 0, givenUp: 0 };
  const accepted: number[] = Array.from({ length: workers }, () => 0);
  const refusals: { at: number; worker: number; epoch: number; retryAfter: number | null }[] = [];
  let done = 0;
  const next = Array.from({ length: workers }, (_, worker) => worker * 0.004);

  async function store(until: number): Promise<void> {
    for (let first = refusals[0]; first !== undefined && first.at + STORED_S <= until; first = refusals[0]) {
      const { worker, at } = first;
      const together = refusals.filter((one) => one.worker === worker && one.at <= at + STORED_S);
      for (const one of together) refusals.splice(refusals.indexOf(one), 1);
      const epoch = Math.max(...together.map((one) => one.epoch));
      const asked = together.flatMap(({ retryAfter }) => retryAfter ?? []);
      await pace.refuse(at + STORED_S, {
        epoch,
        refused: together.filter((one) => one.epoch === epoch).length,
        retryAfter: asked.length === 0 ? null : Math.max(...asked),
        accepted: accepted[worker] ?? 0,
        active: Math.min(10, at),
      });
    }
  }

  function send(at: number, worker: number, epoch: number): void {
    const dueRetry = fresh > 0 ? -1 : retries.findIndex((retry) => retry.at <= at);
    const attempts = (dueRetry === -1 ? 0 : (retries.splice(dueRetry, 1)[0]?.attempts ?? 0)) + 1;
    if (dueRetry === -1) fresh -= 1;
    result.requests += 1;
    const response = limiter(at);
    if (response === 'taken') {
      done += 1;
      accepted[worker] = (accepted[worker] ?? 0) + 1;
      result.seconds = at;
      return;
    }
    result.refused += 1;
    if (attempts === 6) result.givenUp += 1;
    else retries.push({ at: at + 30 * 2 ** (attempts - 1), attempts });
    refusals.push({ at, worker, epoch, retryAfter: response.retryAfter });
  }

  for (let at = 0; done + result.givenUp < count && at < 3_600; at = Math.min(...next)) {
    await store(at);
    const worker = next.indexOf(Math.min(...next));
    const isHeld = refusals.some((one) => one.worker === worker);
    const due = fresh + retries.filter((retry) => retry.at <= at).length;
    const seen = await pace.look(at, isHeld ? 0 : due);
    const most = isHeld ? 0 : (seen?.available ?? FIRST_IN_FLIGHT);
    const sent = Math.min(most, due);
    for (let one = 0; one < sent; one += 1) send(at, worker, seen?.epoch ?? 0);
    const idle = due === 0 ? Math.max(0, Math.min(...retries.map((retry) => retry.at)) - at) : 0;
    const wait = seen === undefined || isHeld || due === 0 ? 0 : seen.wait;
    next[worker] = at + Math.max(ROUND_S, wait, idle) + (at % 0.007);
  }
  return result;
}
