import { type RawBuilder, sql } from 'kysely';

/**
 * The pace of an endpoint: a row of `webhook_paces`, called `pace` here, that the claims of all workers spend from. There is
 * none for a receiver that takes what it gets. Every instant is Postgres's.
 *
 * - A refusal is a 429, or a 503 with Retry-After. It begins a silence (Retry-After, else 1 s, doubled up to 60 s while
 *   nothing is taken), and leaves a rate below what was taken last. Refusals of requests claimed before, of an earlier
 *   epoch, only prolong the silence, or raise the first pace's rate.
 * - Each request that is spent raises the rate a little, so an unused pace does not grow. At full use it doubles every
 *   five seconds while searching, else grows by a tenth every ten seconds, and near the rate that was refused last, the
 *   ceiling, by a hundredth: refusals are rare there, since each costs a delivery an attempt and half a minute.
 * - Ten minutes after the last silence only the integrator's `max_rate` is left.
 */

/** What the rate grows by with each request. */
const GROWTH = { searching: sql.lit(Math.LN2 / 5), usual: sql.lit(0.0095), nearCeiling: sql.lit(0.001) };
/** How near the ceiling is, in shares of it. */
const NEAR = { from: sql.lit(0.9), to: sql.lit(1.05) };
/** What is left of the rate that was taken: as long as it is not well known, and then. */
const KEPT = { searching: sql.lit(0.9), usual: sql.lit(0.95) };
/** What a pace begins with at least, in requests a second: its worker may know of nothing that was taken. */
const FIRST_RATE = sql.lit(5);
/** An endpoint that takes nothing is asked at least this often, in requests a second, apart from silences. */
const MIN_RATE = sql.lit(0.1);
const MAX_RATE = sql.lit(10_000);
/** What was not spent may be sent at once for this long, in seconds; and how often it is worth a claim. */
const AT_ONCE = sql.lit(0.1);
/** What was taken is counted over this, in seconds: while searching the rate is soon another. */
const WINDOW = { searching: 3, usual: 10 };
/** A refusal sooner after a silence says that the silence made room: what was taken is spread over both. */
const SOON = sql.lit(2);
const LONGEST_BACK_OFF = sql.lit(60);
/** The longest Retry-After that is followed, in seconds. */
export const LONGEST_SILENCE = 900;
const IN_FORCE = sql`interval '10 minutes'`;

type Instant = RawBuilder<unknown>;
const NOW: Instant = sql`now()`;

const secondsFrom = (from: RawBuilder<unknown>, to: RawBuilder<unknown>): RawBuilder<number> =>
  sql`extract(epoch FROM ${to} - ${from})::float8`;
const seconds = (count: RawBuilder<unknown>): RawBuilder<unknown> => sql`make_interval(secs => ${count})`;

/** SQL over `pace`: a refusal limits it. */
const isRefused = (now: Instant): RawBuilder<boolean> => sql`(pace.resumed_at > ${now} - ${IN_FORCE})`;

/** SQL over `pace`: there is something to keep to. */
export const isInForce = (now = NOW): RawBuilder<boolean> =>
  sql`(pace.max_rate IS NOT NULL OR ${isRefused(now)})`;

/** SQL over a `pace` in force: requests a second. */
export const rateAt = (now = NOW): RawBuilder<number> => sql`
  least(CASE WHEN ${isRefused(now)} THEN pace.rate END, pace.max_rate)`;

const depth = (now: Instant): RawBuilder<number> => sql`greatest(1, floor(${AT_ONCE} * ${rateAt(now)}))`;

/** SQL over a `pace` in force: how many requests may be sent now. */
export const availableAt = (now = NOW): RawBuilder<number> => sql`
  CASE WHEN pace.next_at > ${now} THEN 0
    ELSE least(${depth(now)}, 1 + floor(${secondsFrom(sql`pace.next_at`, now)} * ${rateAt(now)})) END::integer`;

/** SQL over a `pace` in force: seconds until the next request may be sent, or when it may now, until more are worth a claim. */
export const waitAt = (now = NOW): RawBuilder<number> => sql`
  CASE WHEN pace.next_at > ${now} THEN ${secondsFrom(now, sql`pace.next_at`)}
    ELSE greatest(${AT_ONCE}, 1 / ${rateAt(now)}) END`;

const windowOf = sql`CASE WHEN pace.searching THEN ${sql.lit(WINDOW.searching)} ELSE ${sql.lit(WINDOW.usual)} END`;
/** SQL: what counts of `taken` at an instant. */
const takenAt = (now: Instant): RawBuilder<number> => sql`
  pace.taken * least(1, ${windowOf} / greatest(${secondsFrom(sql`pace.taken_from`, now)}, 0.001))`;

/** SQL over a `pace` in force: the SET of an UPDATE that spends `count` requests. */
export const spent = (count: RawBuilder<unknown>, now = NOW): RawBuilder<unknown> => sql`
  next_at = greatest(pace.next_at, ${now} - ${seconds(sql`(${depth(now)} - 1) / ${rateAt(now)}`)})
    + ${seconds(sql`${count} / ${rateAt(now)}`)},
  rate = least(${MAX_RATE}, pace.rate + ${count} * CASE WHEN pace.searching THEN ${GROWTH.searching}
    WHEN pace.rate BETWEEN ${NEAR.from} * pace.ceiling AND ${NEAR.to} * pace.ceiling THEN ${GROWTH.nearCeiling}
    ELSE ${GROWTH.usual} END),
  taken = ${takenAt(now)} + ${count},
  taken_from = greatest(pace.taken_from, ${now} - ${seconds(windowOf)})`;

/**
 * SQL: the INSERT of the pace that a refusal without one sets, and what it makes of one that is no longer in force.
 * @param given a row with `epoch`, what was `accepted` in the last `active` seconds, and `retry_after` or null
 */
export const firstRefusal = (now: Instant): RawBuilder<unknown> => sql`
  given.epoch + 1, greatest(${FIRST_RATE}, ${KEPT.searching} * given.accepted / greatest(1, given.active)), true,
  'infinity'::float8, 1, ${now}, ${now} + ${seconds(sql`greatest(1, given.retry_after)`)}`;

/** SQL: the columns of {@link firstRefusal} and {@link laterRefusal}. */
export const REFUSAL_COLUMNS = sql`epoch, rate, searching, ceiling, back_off_seconds, refused_at, resumed_at`;
/** SQL: the columns of what is spent, which starts over after both. */
export const COUNT_COLUMNS = sql`next_at, taken_from, taken`;

/**
 * SQL: {@link REFUSAL_COLUMNS} and {@link COUNT_COLUMNS} after a refusal of an earlier epoch than that of a `pace` in force.
 * Of workers that were refused before there was a pace, the one that knows of most taken is right; `excluded` is its view.
 */
export const earlierRefusal = (now: Instant): RawBuilder<unknown> => {
  const prolonged = (end: RawBuilder<unknown>) =>
    sql`greatest(${end}, ${now} + ${seconds(sql`given.retry_after`)})`;
  return sql`
    pace.epoch, CASE WHEN pace.epoch = 1 AND given.epoch = 0 THEN greatest(pace.rate, excluded.rate) ELSE pace.rate END,
    pace.searching, pace.ceiling, pace.back_off_seconds, pace.refused_at, ${prolonged(sql`pace.resumed_at`)},
    ${prolonged(sql`pace.next_at`)}, pace.taken_from, pace.taken`;
};

/** SQL: what a refusal of the present epoch makes of a `pace` in force. @param given as before, with how many were `refused` */
export const laterRefusal = (now: Instant): RawBuilder<unknown> => sql`
  SELECT pace.epoch + 1,
    greatest(${MIN_RATE}, CASE WHEN kept = 0 THEN rate_now / 2
      WHEN unsure THEN ${KEPT.searching} * took ELSE ${KEPT.usual} * took END),
    kept = 0 OR soon,
    CASE WHEN kept = 0 OR unsure THEN 'infinity' ELSE rate_now END,
    back_off, ${now}, ${now} + ${seconds(sql`greatest(back_off, given.retry_after)`)}
  FROM (SELECT greatest(0, ${takenAt(now)} - given.refused) AS kept, ${rateAt(now)} AS rate_now,
          ${secondsFrom(sql`pace.resumed_at`, now)} < ${SOON} AS soon) AS seen
  CROSS JOIN LATERAL (
    SELECT soon OR pace.searching AS unsure,
      least(rate_now, kept / greatest(1, ${secondsFrom(
        sql`CASE WHEN soon THEN greatest(pace.refused_at, ${now} - interval '10 seconds')
          ELSE greatest(pace.taken_from, ${now} - ${seconds(windowOf)}) END`,
        now,
      )})) AS took,
      CASE WHEN kept > 0 THEN 1 ELSE least(${LONGEST_BACK_OFF}, 2 * pace.back_off_seconds) END AS back_off) AS rates`;
