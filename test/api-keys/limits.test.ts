import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { BEFORE_ALL_KEYS, type KeyPosition, readKeys } from '../../src/api-keys/list.ts';
import { purgeKeys } from '../../src/api-keys/purge.ts';
import type { ApiKeyItem } from '../../src/api-keys/schemas.ts';
import { inBatches } from '../../src/db/batches.ts';
import { defineRoute } from '../../src/http/route.ts';
import { PAGE_BYTES, streamList } from '../../src/http/stream-list.ts';
import type { WorkspaceId } from '../../src/ids.ts';
import {
  createWorkspace,
  edgeRoutes,
  startApi,
  type TestApi,
  type TestWorkspace,
} from '../http/support/api.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;

/** A list of three pages, of which the second cannot be read. */
const broken = defineRoute(
  {
    method: 'get',
    path: '/api/broken',
    operationId: 'broken',
    summary: 'Broken',
    tags: ['API keys'],
    scope: 'caller',
    permissions: [],
    responses: { 200: { description: 'Part of a list.', schema: z.object({}) } },
  },
  async () =>
    streamList('items', 0, async (after: number) => {
      if (after > 0) throw new Error('lost the database');
      return { items: ['1', '2'], last: after + 1 };
    }),
);

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi(database.db, {}, [...edgeRoutes(), broken]);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

/** The widest label as JSON: a control character is six bytes there. */
const WIDEST = `${'\u0001'.repeat(119)}x`;

/** Adds keys by SQL. @param revoked whether they have ended */
const addKeys = (workspaceId: WorkspaceId, count: number, revoked: boolean) =>
  sql`
    INSERT INTO api_keys (id, workspace_id, role_id, label, prefix, key_hash, created_at, last_used_at, expires_at, revoked_at)
    SELECT gen_random_uuid(), ${workspaceId}, (SELECT id FROM roles WHERE workspace_id = ${workspaceId} LIMIT 1),
      ${WIDEST}, 'wcsk_0123456789a', sha256(gen_random_uuid()::text::bytea),
      now() - make_interval(secs => number / 7), now(), CASE WHEN ${revoked} THEN now() END, CASE WHEN ${revoked} THEN now() END
    FROM generate_series(1, ${count}) AS number`.execute(database.db);

const pathOf = ({ id }: TestWorkspace) => `/api/workspaces/${id}/api-keys`;
const create = (workspace: TestWorkspace) =>
  api.call('POST', pathOf(workspace), {
    key: workspace.ownerKey,
    body: { label: 'one more', roleId: workspace.roles.editor },
  });
const rotate = (workspace: TestWorkspace, id: string) =>
  api.call('POST', `${pathOf(workspace)}/${id}/rotate`, { key: workspace.ownerKey });

/** Of several creations at once, how many succeed; the others must be refused for the bound. */
async function wins(workspace: TestWorkspace): Promise<number> {
  const made = await Promise.all([1, 2, 3, 4].map(() => create(workspace)));
  const refused = made.filter(({ status }) => status !== 201);
  for (const { status, body } of refused) {
    expect([status, body.details]).toEqual([409, { reason: 'key_limit' }]);
  }
  return made.length - refused.length;
}

// contract.md K16
test('a workspace has room for 1,000 living keys, however many are made at once, and rotates them still', async () => {
  const workspace = await createWorkspace(database.db, 'Living');
  await addKeys(workspace.id, 998, false);
  expect(await wins(workspace)).toBe(1);
  const [living] = (await api.call('GET', pathOf(workspace), { key: workspace.ownerKey })).body.apiKeys;
  const rotated = await rotate(workspace, living?.id ?? '');
  expect(rotated.status).toBe(201);
  expect(await wins(workspace)).toBe(0);
  await api.call('DELETE', `${pathOf(workspace)}/${rotated.body.apiKey.id}`, { key: workspace.ownerKey });
  expect(await wins(workspace)).toBe(1);
});

// contract.md K16 and K17
test('it has room for 10,000 keys in all, for 50,000 with rotated ones, and for more once ended ones are purged', async () => {
  const workspace = await createWorkspace(database.db, 'All');
  const { apiKey } = await workspace.keyOf(workspace.roles.editor);
  await workspace.keyOf(workspace.roles.editor, new Date(Date.now() + 3_600_000));
  await addKeys(workspace.id, 9_996, true);
  expect(await wins(workspace)).toBe(1);
  const rotated = await rotate(workspace, apiKey.id);
  expect(rotated.status).toBe(201);
  await addKeys(workspace.id, 39_999, true);
  const full = await rotate(workspace, rotated.body.apiKey.id);
  expect([full.status, full.body.details]).toEqual([409, { reason: 'key_limit' }]);
  expect((await api.call('GET', '/api/whoami', { key: rotated.body.key })).status).toBe(200);

  expect(await purgeKeys(workspace.operator, new Date('2020-01-01T00:00:00Z'))).toBe(0);
  // A time to come takes no living key along, not even one that will have expired by then.
  expect(await purgeKeys(workspace.operator, new Date('2100-01-01T00:00:00Z'))).toBe(49_996);
  const left = (await api.call('GET', pathOf(workspace), { key: workspace.ownerKey })).body.apiKeys;
  expect(left.map(({ revokedAt }) => revokedAt)).toEqual([null, null, null, null]);
  const entries = await database.db
    .selectFrom('audit_entries')
    .select(['actor_kind', 'details'])
    .where('workspace_id', '=', workspace.id)
    .where('action', '=', 'api_keys.purged')
    .execute();
  expect(entries).toHaveLength(50);
  expect(entries.every(({ actor_kind }) => actor_kind === 'operator')).toBe(true);
  expect(entries.reduce((sum, { details }) => sum + Number(details.count), 0)).toBe(49_996);
  expect(await wins(workspace)).toBe(4);
}, 120_000);

/** Bytes in use after a collection. */
function inUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

// contract.md K3 and K18
test('a list of 10,000 keys with the widest labels is sent whole, and holds a page in memory where nobody reads it', async () => {
  const workspace = await createWorkspace(database.db, 'Long');
  await addKeys(workspace.id, 9_999, true);
  const whole = await api.call('GET', pathOf(workspace), { key: workspace.ownerKey });
  expect(whole.status).toBe(200);
  expect(whole.headers.get('content-type')).toBe('application/json');
  expect(Buffer.byteLength(whole.text)).toBeGreaterThan(10_000_000);
  const stored = await database.db
    .selectFrom('api_keys')
    .select('id')
    .where('workspace_id', '=', workspace.id)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  expect(whole.body.apiKeys.map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
  expect(whole.body.apiKeys[0]).toEqual({
    id: stored[0]?.id,
    label: WIDEST,
    prefix: 'wcsk_0123456789a',
    roleId: expect.any(String),
    createdAt: expect.any(String),
    lastUsedAt: expect.any(String),
    expiresAt: expect.any(String),
    revokedAt: expect.any(String),
  } satisfies Record<keyof ApiKeyItem, unknown>);
  for await (const { items } of inBatches(BEFORE_ALL_KEYS, (after: KeyPosition) =>
    readKeys(workspace.operator, after),
  )) {
    expect(Buffer.byteLength(`{"apiKeys":[${items.join(',')}`)).toBeLessThanOrEqual(PAGE_BYTES);
  }

  const { port } = new URL(api.url);
  const before = inUse();
  const sockets = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const socket = net.connect(Number(port), '127.0.0.1');
      socket.pause();
      socket.write(
        `GET ${pathOf(workspace)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${workspace.ownerKey}\r\n\r\n`,
      );
      return socket;
    }),
  );
  await sleep(2_000);
  // Whole, they would be 330 MB.
  expect(inUse() - before).toBeLessThan(60_000_000);
  expect((await api.call('GET', '/api/whoami', { key: workspace.ownerKey })).status).toBe(200);
  for (const socket of sockets) socket.destroy();
}, 60_000);

// contract.md K18
test('a list whose rest cannot be read ends the connection, and shows nothing of the reason', async () => {
  const { ownerKey } = await createWorkspace(database.db, 'Broken');
  const response = await fetch(`${api.url}/api/broken`, { headers: { authorization: `Bearer ${ownerKey}` } });
  expect(response.status).toBe(200);
  let received = '';
  const read = async () => {
    for await (const chunk of response.body ?? []) received += Buffer.from(chunk).toString();
  };
  await expect(read()).rejects.toThrow();
  expect('{"items":[1,2').toContain(received);
  const lines = api.log.filter((line) => line.includes('the rest of a list could not be read'));
  expect(lines).toEqual([expect.stringContaining('lost the database')]);
});
