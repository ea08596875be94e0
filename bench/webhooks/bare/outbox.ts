import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { createDatabase } from '../../../src/db/database.ts';

export interface LoopRequest {
  readonly url: string;
}

export interface LoopAnswer {
  readonly tookMs: number;
}

export interface BareLoop {
  /** Stores rows, has them sent to one receiver and returns the rate, per second. */
  rate(count: number, url: string): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the bare loop on a table of its own in the same Postgres. */
export async function startBareLoop(databaseUrl: string): Promise<BareLoop> {
  const db = createDatabase({ connectionString: databaseUrl, poolSize: 2 });
  await sql`
    CREATE TABLE bare_outbox (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
    async rate(count, url) {
      await sql`INSERT INTO bare_outbox (body) SELECT ${body} FROM generate_series(1, ${count}::integer)`.execute(
        db,
      );
      child.send({ url } satisfies LoopRequest);
      const [answer] = await once(child, 'message');
      return (count * 1_000) / (answer as LoopAnswer).tookMs;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      await db.destroy();
    },
  };
}
