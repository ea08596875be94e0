/**
 * The least a service with webhooks can do, as one process: Hono and pg that check a key, update the article and write
 * event and delivery in one transaction, and a loop that claims, signs, sends and records, woken by each commit. No
 * guard, no schedule, no fairness, no audit, nothing that is rendered.
 *
 * Environment: DATABASE_URL, BARE_RECEIVER.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import pg from 'pg';
import { Pool } from 'undici';
import { announce } from '../../lib/child.ts';

const CLAIM = 200;
const LOOPS = 4;
const database = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const { origin, pathname } = new URL(process.env.BARE_RECEIVER ?? '');
const receiver = new Pool(origin, { connections: 64 });

/** pg plans a statement with a name once a connection. */
const statement = (name: string, text: string) => (values: unknown[]) => ({ name, text, values });
const findKey = statement('key', 'SELECT workspace_id FROM bare.keys WHERE key_hash = $1');
const publish = statement(
  'publish',
  `UPDATE bare.articles SET status = 'PUBLISHED', published_at = now(), updated_at = now()
   WHERE id = $1 AND workspace_id = $2 AND status = 'APPROVED' RETURNING *`,
);
const touch = statement(
  'touch',
  `UPDATE bare.articles SET updated_at = now() WHERE id = $1 AND workspace_id = $2 AND status = 'PUBLISHED' RETURNING *`,
);
const replaceCategories = statement(
  'replace',
  `WITH gone AS (DELETE FROM bare.article_categories WHERE article_id = $1 AND category_id <> ALL ($2::uuid[]))
   INSERT INTO bare.article_categories SELECT $1, unnest($2::uuid[]) ON CONFLICT DO NOTHING`,
);
const record = statement(
  'record',
  `WITH stored AS (INSERT INTO bare.events (id, workspace_id, body) VALUES ($1, $2, $3) RETURNING id)
   INSERT INTO bare.deliveries (event_id) SELECT id FROM stored`,
);
const claim = statement(
  'claim',
  `WITH claimed AS (
     UPDATE bare.deliveries SET claimed = true WHERE id IN (
       SELECT id FROM bare.deliveries WHERE NOT claimed ORDER BY id LIMIT ${CLAIM} FOR UPDATE SKIP LOCKED)
     RETURNING id, event_id)
   SELECT claimed.id, events.body FROM claimed JOIN bare.events ON events.id = claimed.event_id`,
);
const finish = statement(
  'finish',
  `UPDATE bare.deliveries SET status = outcome.status, ended_at = now()
   FROM unnest($1::bigint[], $2::integer[]) AS outcome (id, status) WHERE deliveries.id = outcome.id`,
);

let loops = 0;
let wanted = false;

async function send(body: Buffer): Promise<number> {
  const seconds = Math.floor(Date.now() / 1_000);
  const v1 = createHmac('sha256', 'secret').update(`${seconds}.`).update(body).digest('hex');
  const response = await receiver.request({
    method: 'POST',
    path: pathname,
    headers: { 'content-type': 'application/json', 'x-service-signature': `t=${seconds},v1=${v1}` },
    body,
  });
  await response.body.dump();
  return response.statusCode;
}

async function work(): Promise<void> {
  do {
    wanted = false;
    const { rows } = await database.query<{ id: string; body: Buffer }>(claim([]));
    if (rows.length === 0) continue;
    const statuses = await Promise.all(rows.map(({ body }) => send(body)));
    await database.query(finish([rows.map(({ id }) => id), statuses]));
  } while (wanted);
}

function wake(): void {
  wanted = true;
  if (loops === LOOPS) return;
  loops += 1;
  void work().finally(() => {
    loops -= 1;
  });
}

/** A change of an article and its event, in one transaction. */
async function change(
  c: Context,
  event: string,
  work: (connection: pg.PoolClient, workspaceId: string) => Promise<{ id: string; title: string }>,
): Promise<Response> {
  const key = (c.req.header('authorization') ?? '').slice('Bearer '.length);
  const connection = await database.connect();
  try {
    const keys = await connection.query(findKey([createHash('sha256').update(key).digest()]));
    const workspaceId = keys.rows[0]?.workspace_id;
    if (workspaceId === undefined) return c.json({}, 401);
    await connection.query('BEGIN');
    const article = await work(connection, workspaceId);
    const body = JSON.stringify({ event, data: { articleId: article.id, title: article.title } });
    await connection.query(record([randomUUID(), workspaceId, Buffer.from(body)]));
    await connection.query('COMMIT');
    wake();
    return c.json({ article });
  } finally {
    connection.release();
  }
}

const app = new Hono();
app.post('/api/articles/:id/publish', (c) =>
  change(c, 'article.published', async (connection, workspaceId) => {
    const { rows } = await connection.query(publish([c.req.param('id'), workspaceId]));
    return rows[0];
  }),
);
app.put('/api/articles/:id/categories', async (c) => {
  const { categoryIds } = await c.req.json();
  return change(c, 'article.updated', async (connection, workspaceId) => {
    const { rows } = await connection.query(touch([c.req.param('id'), workspaceId]));
    await connection.query(replaceCategories([c.req.param('id'), categoryIds]));
    return rows[0];
  });
});

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (address: AddressInfo) =>
  announce(`http://127.0.0.1:${address.port}`, async () => void server.close()),
);
