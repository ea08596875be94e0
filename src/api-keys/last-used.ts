import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { ApiKeyId } from '../ids.ts';

/** Collects when keys were used and writes it in batches: no request waits for it. */
export interface LastUsedRecorder {
  readonly record: (keyId: ApiKeyId) => void;
  /** Writes what is collected. A failed write is repeated with the next one. */
  readonly flush: () => Promise<void>;
  /** Stops the timer and writes the rest. */
  readonly close: () => Promise<void>;
}

/** Rows are locked in the order of their ids, so that two processes cannot deadlock; a time never moves backwards. */
async function write(db: Database, times: ReadonlyMap<ApiKeyId, number>): Promise<void> {
  const ids = [...times.keys()];
  const dates = [...times.values()].map((time) => new Date(time).toISOString());
  await sql`
    WITH used AS (
      SELECT * FROM unnest(${ids}::uuid[], ${dates}::timestamptz[]) AS used (id, at)
    ), locked AS (
      SELECT k.id FROM api_keys k JOIN used USING (id)
      WHERE k.last_used_at IS NULL OR k.last_used_at < used.at
      ORDER BY k.id FOR NO KEY UPDATE OF k
    )
    UPDATE api_keys k SET last_used_at = used.at
    FROM used JOIN locked USING (id)
    WHERE k.id = used.id AND (k.last_used_at IS NULL OR k.last_used_at < used.at)`.execute(db);
}

/** A recorder that writes every `intervalMs` (5 s by default; contract.md K12). */
export function createLastUsedRecorder(
  db: Database,
  logger: Logger,
  intervalMs: number = 5_000,
): LastUsedRecorder {
  let pending = new Map<ApiKeyId, number>();
  let writing: Promise<void> = Promise.resolve();

  const writePending = async (): Promise<void> => {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await write(db, batch);
    } catch (error) {
      for (const [id, time] of batch) pending.set(id, Math.max(time, pending.get(id) ?? 0));
      logger.warn({ keys: batch.size, err: error }, 'lastUsedAt not written, will try again');
    }
  };
  const flush = (): Promise<void> => {
    writing = writing.then(writePending);
    return writing;
  };

  const timer = setInterval(flush, intervalMs).unref();
  return {
    record: (keyId) => {
      pending.set(keyId, Date.now());
    },
    flush,
    close: () => {
      clearInterval(timer);
      return flush();
    },
  };
}
