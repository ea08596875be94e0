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

/**
 * Has Postgres log how long statements take, planning included.
 * @param share of all statements, 0 to 1
 */
export async function logStatements(db: Database, share: number): Promise<void> {
  for (const [name, value] of [
    ['log_line_prefix', MARK],
    ['log_min_duration_sample', '0'],
    ['log_statement_sample_rate', String(share)],
    ['log_parameter_max_length', '0'],
  ] as const) {
    await sql`ALTER SYSTEM SET ${sql.ref(name)} = ${sql.lit(value)}`.execute(db);
  }
  await sql`SELECT pg_reload_conf()`.execute(db);
}

/** Where the log ends now. */
export const endOf = (logFile: string): number => statSync(logFile).size;

/** What was logged between two places: a statement's name, or how it begins, with its times. */
export async function readTimes(logFile: string, from: number, to: number): Promise<StatementTimes> {
  const times = new Map<string, number[]>();
  const take = (entry: string) => {
    const [, duration, step, name = '', text = ''] = ENTRY.exec(entry) ?? [];
    if (duration === undefined || step === 'parse') return;
    const key = `${step} ${name === '<unnamed>' ? text.replace(/\s+/g, ' ').trim().slice(0, KEY_LENGTH) : name}`;
    const known = times.get(key);
    if (known === undefined) times.set(key, [Number(duration)]);
    else known.push(Number(duration));
  };
  const file = await open(logFile);
  let rest = '';
  try {
    // `end` is the last byte that is read.
    for await (const chunk of file.createReadStream({
      start: from,
      end: Math.max(from, to - 1),
      encoding: 'utf8',
    })) {
      const entries = (rest + chunk).split(MARK);
      rest = entries.pop() ?? '';
      for (const entry of entries) take(entry);
    }
  } finally {
    await file.close();
  }
  take(rest);
  return times;
}
