import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/** Marks where an entry of the log begins. */
const MARK = 'STATEMENT|';
const ENTRY = /^\S+:\s+duration: ([\d.]+) ms {2}(parse|bind|execute) ([^:]+):\s*([\s\S]*)$/;
const KEY_LENGTH = 70;

/** Milliseconds that Postgres took for the statements of each kind. */
export type StatementTimes = ReadonlyMap<string, readonly number[]>;

async function set(db: Database, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    await sql`ALTER SYSTEM SET ${sql.ref(name)} = ${sql.lit(value)}`.execute(db);
  }
  await sql`SELECT pg_reload_conf()`.execute(db);
}

/**
 * Has Postgres log how long statements take, planning included.
 * @param share of all statements, 0 to 1
 */
export const logStatements = (db: Database, share: number): Promise<void> =>
  set(db, {
    log_line_prefix: MARK,
    log_min_duration_sample: '0',
    log_statement_sample_rate: String(share),
    log_parameter_max_length: '0',
  });

/**
 * Has Postgres log the plans of new connections' statements, with row counts.
 * @param share of all statements, 0 to 1
 */
export const logPlans = (db: Database, share: number): Promise<void> =>
  set(db, {
    log_line_prefix: MARK,
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.sample_rate': String(share),
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_parameter_max_length': '0',
  });

/** Where the log ends now. */
export const endOf = (logFile: string): number => statSync(logFile).size;

/** Hands over the entries between two places of the log, one by one. */
async function eachEntry(logFile: string, from: number, to: number, take: (entry: string) => void) {
  const file = await open(logFile);
  let rest = '';
  try {
    // `end` is the last byte that is read.
    const range = { start: from, end: Math.max(from, to - 1), encoding: 'utf8' } as const;
    for await (const chunk of file.createReadStream(range)) {
      const entries = (rest + chunk).split(MARK);
      rest = entries.pop() ?? '';
      for (const entry of entries) take(entry);
    }
  } finally {
    await file.close();
  }
  take(rest);
}

/** The plans logged between two places, with the milliseconds that each statement took. */
export async function readPlans(
  logFile: string,
  from: number,
  to: number,
): Promise<{ ms: number; plan: string }[]> {
  const plans: { ms: number; plan: string }[] = [];
  await eachEntry(logFile, from, to, (entry) => {
    const [, ms] = /^\S+:\s+duration: ([\d.]+) ms {2}plan:/.exec(entry) ?? [];
    if (ms !== undefined) plans.push({ ms: Number(ms), plan: entry });
  });
  return plans;
}

/** What was logged between two places: a statement's name, or how it begins, with its times. */
export async function readTimes(logFile: string, from: number, to: number): Promise<StatementTimes> {
  const times = new Map<string, number[]>();
  await eachEntry(logFile, from, to, (entry) => {
    const [, duration, step, name = '', text = ''] = ENTRY.exec(entry) ?? [];
    if (duration === undefined || step === 'parse') return;
    const key = `${step} ${name === '<unnamed>' ? text.replace(/\s+/g, ' ').trim().slice(0, KEY_LENGTH) : name}`;
    const known = times.get(key);
    if (known === undefined) times.set(key, [Number(duration)]);
    else known.push(Number(duration));
  });
  return times;
}
