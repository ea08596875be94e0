/** The two statements of an authenticated list behind bare Hono and pg. */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import pg from 'pg';
import { announce } from '../lib/child.ts';

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE),
});
const app = new Hono();

app.get('/api/workspaces/:workspaceId/api-keys', async (c) => {
  const key = (c.req.header('authorization') ?? '').slice('Bearer '.length);
  const caller = await pool.query(
    `SELECT k.id, k.prefix, k.workspace_id, w.name AS workspace_name, r.id AS role_id, r.name AS role_name,
            r.permissions
     FROM api_keys k
     JOIN roles r ON r.workspace_id = k.workspace_id AND r.id = k.role_id
     JOIN workspaces w ON w.id = k.workspace_id
     WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
    [createHash('sha256').update(key).digest()],
  );
  if (caller.rows.length === 0) return c.json({}, 401);
  const keys = await pool.query(
    `SELECT id, label, prefix, role_id, created_at, last_used_at, expires_at, revoked_at
     FROM api_keys WHERE workspace_id = $1 ORDER BY created_at, id`,
    [c.req.param('workspaceId')],
  );
  return c.json({ apiKeys: keys.rows });
});

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (address: AddressInfo) =>
  announce(`http://127.0.0.1:${address.port}`, async () => void server.close()),
);
