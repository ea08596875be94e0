import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { createDatabase } from '../../../src/db/database.ts';

export interface LoopReply {
  readonly tookMs: number;
}

export interface BareLoop {
  /** Stores rows, has them sent to receivers in equal shares and recorded, and returns the rate, per second. */
  rate(count: number, urls: readonly string[]): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the bare loop on a table of its own in the same Postgres. */
export async function startBareLoop(databaseUrl: string): Promise<BareLoop> {
  const db = createDatabase({ connectionString: databaseUrl, poolSize: 2 });
  await sql`
    CREATE TABLE bare_outbox (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      url text NOT NULL,
      body bytea NOT NULL,
      claimed boolean NOT NULL DEFAULT false,
      status integer,
      ended_at timestamptz
    )`.execute(db);
  await sql`CREATE INDEX ON bare_outbox (id) WHERE NOT claimed`.execute(db);
  const child = fork(fileURLToPath(new URL('./loop.ts', import.meta.url)), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: databaseUrl },
  });
  const body = Buffer.from(
    JSON.stringify({ event: 'article.created', data: { articleId: 'a', projectId: 'b', title: 'Article' } }),
  );
  return {
    async rate(count, urls) {
      await sql`
        INSERT INTO bare_outbox (url, body)
        SELECT (${[...urls]}::text[])[1 + n % ${urls.length}::integer], ${body}
        FROM generate_series(1, ${count}::integer) AS n`.execute(db);
      child.send('start');
      const [reply] = await once(child, 'message');
      return (count * 1_000) / (reply as LoopReply).tookMs;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      await db.destroy();
    },
  };
}
