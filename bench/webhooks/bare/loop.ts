/**
 * The least a sender with an outbox in Postgres can do, as a process of its own: claims of 200 rows, signed POSTs over
 * kept connections, outcomes recorded by UNNEST. No guard, no schedule, no last look at the row, no fairness.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { Agent, request } from 'undici';
import type { LoopReply } from './outbox.ts';

const CLAIM = 200;
const LOOPS = 4;
const CONNECTIONS = 64;

const database = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '', max: LOOPS });

async function work(dispatcher: Agent): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ id: string; url: string; body: Buffer }>(
      `UPDATE bare_outbox SET claimed = true
       WHERE id IN (SELECT id FROM bare_outbox WHERE NOT claimed ORDER BY id LIMIT ${CLAIM} FOR UPDATE SKIP LOCKED)
       RETURNING id, url, body`,
    );
    if (rows.length === 0) return;
    const statuses = await Promise.all(
      rows.map(async ({ url, body }) => {
        const seconds = Math.floor(Date.now() / 1_000);
        const v1 = createHmac('sha256', 'secret').update(`${seconds}.`).update(body).digest('hex');
        const headers = {
          'content-type': 'application/json',
          'x-service-signature': `t=${seconds},v1=${v1}`,
        };
        const response = await request(url, { dispatcher, method: 'POST', headers, body });
        await response.body.dump();
        return response.statusCode;
      }),
    );
    await database.query(
      `UPDATE bare_outbox SET status = outcome.status, ended_at = now()
       FROM unnest($1::bigint[], $2::integer[]) AS outcome (id, status) WHERE bare_outbox.id = outcome.id`,
      [rows.map(({ id }) => id), statuses],
    );
  }
}

process.on('message', async () => {
  const dispatcher = new Agent({ connections: CONNECTIONS });
  const startedAt = Date.now();
  await Promise.all(Array.from({ length: LOOPS }, () => work(dispatcher)));
  const reply: LoopReply = { tookMs: Date.now() - startedAt };
  await dispatcher.close();
  process.send?.(reply);
});
await once(process, 'disconnect');
await database.end();
