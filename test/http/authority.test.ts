import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeys } from '../../src/api-keys/authenticate.ts';
import { createApiKey } from '../../src/api-keys/create.ts';
import { createLastUsedRecorder } from '../../src/api-keys/last-used.ts';
import { revokeApiKey } from '../../src/api-keys/revoke.ts';
import { createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { createEventWatch } from '../../src/events/log/watch.ts';
import { DEFAULT_HTTP_LIMITS } from '../../src/http/limits.ts';
import type { RouteDefinition } from '../../src/http/route.ts';
import type { Keys } from '../../src/http/scope.ts';
import type { ApiKeyId, RoleId } from '../../src/ids.ts';
import { createJobWatch } from '../../src/jobs/watch.ts';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import { PERMISSIONS } from '../../src/permissions.ts';
import { createRoutes } from '../../src/processes/routes.ts';
import { createRole } from '../../src/roles/create.ts';
import { updateRole } from '../../src/roles/update.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { createRunCanceller } from '../../src/webhooks/endpoints/run-canceller.ts';
import { createSecretRing } from '../../src/webhooks/secrets/ring.ts';
import { createWebhookSender } from '../../src/webhooks/sending/sender.ts';
import { useTestMedia } from '../support/images.ts';
import { logger, type TestWorkspace, useTestService } from '../support/service.ts';
import { startApi, type TestApi } from './support/api.ts';
import { fingerprintOf, grounded, type Ids, makeOneOfEach, PNG, realPath } from './support/one-of-each.ts';

const media = useTestMedia();

const service = useTestService();

/** Requests that take a body and write nothing. */
const READING = ['estimateTranslation', 'estimateGeneration', 'estimateRefresh', 'estimateRefreshOf'];

interface Caller {
  readonly key: string;
  readonly keyId: ApiKeyId;
  readonly roleId: RoleId;
}

/** What ends a request's authority: `begin` is committed while the request's body arrives, `end` undoes it for the next one. */
interface Loss {
  readonly name: string;
  readonly status: number;
  readonly begin: (caller: Caller, definition: RouteDefinition) => Promise<unknown>;
  readonly end?: () => Promise<unknown>;
}

const setState = (state: { deleted_at?: Date | null; suspended_at?: Date | null }) =>
  service.db.updateTable('workspaces').set(state).where('id', '=', workspace.id).executeTakeFirstOrThrow();

const LOSSES: readonly Loss[] = [
  {
    name: 'its key is revoked',
    status: 401,
    begin: ({ keyId }) => revokeApiKey(workspace.context, keyId),
  },
  {
    name: 'its role loses the permission',
    status: 403,
    begin: ({ roleId }, { permissions }) =>
      updateRole(workspace.context, roleId, {
        permissions: PERMISSIONS.filter((one) => !permissions.includes(one)),
      }),
  },
  {
    name: 'its workspace is deleted',
    status: 401,
    begin: () => setState({ deleted_at: new Date() }),
    end: () => setState({ deleted_at: null }),
  },
  {
    name: 'its workspace is suspended',
    status: 403,
    begin: () => setState({ suspended_at: new Date() }),
    end: () => setState({ suspended_at: null }),
  },
];

let workspace: TestWorkspace;
let ids: Ids;
let fingerprint: () => Promise<string>;
let api: TestApi;
let blobFolder: string;
let imageUrl: string;
/** If-Match of the operations that need it. */
let tags: Readonly<Record<string, string>>;
let definitions: RouteDefinition[];
const closing: (() => unknown)[] = [];
/** Called once a request is authenticated; the request goes on when its promise does. */
let whenIdentified: () => Promise<unknown> = async () => undefined;

beforeAll(async () => {
  workspace = await service.workspace(1_000_000);
  const made = await makeOneOfEach(service, workspace);
  ids = { ...made, proposalId: await makeProposal(made) };
  const tagOf = async (path: string) =>
    (await service.call(workspace.key, 'GET', `/api/articles/${path}`)).headers.get('etag') ?? '';
  const state = await tagOf(`${ids.articleId}/translation-state`);
  tags = {
    approveOutline: await tagOf(`${ids.outlinedId}/outline`),
    updateStyleSheet: await tagOf(`${ids.articleId}/style-sheet`),
    decideProposals: state,
    markCurrent: state,
  };
  fingerprint = await fingerprintOf(service);

  const images = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
  });
  await new Promise<void>((resolve) => images.listen(0, '127.0.0.1', resolve));
  imageUrl = `http://127.0.0.1:${(images.address() as AddressInfo).port}/image.png`;
  blobFolder = await mkdtemp(path.join(tmpdir(), 'wcs-authority-'));

  const { db } = service;
  // What is refused starts no run and sends nothing.
  const client = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
  const guard = createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.0/8') });
  const runCanceller = createRunCanceller({ client, logger });
  const jobWatch = createJobWatch(db);
  const eventWatch = createEventWatch(db);
  const routes = createRoutes({
    client,
    names: taskQueues('authority-'),
    logger,
    guard,
    imageGuard: guard,
    secrets: createSecretRing(service.config.SECRETS_KEYS),
    sender: createWebhookSender({ guard }),
    blobs: createLocalBlobStore(blobFolder),
    media,
    limits: DEFAULT_HTTP_LIMITS,
    runCanceller,
    jobWatch,
    eventWatch,
    catchUp: { add: () => undefined, close: async () => undefined },
    canDraw: true,
    engineSlots: 100,
    unbilledLimit: 0,
    features: { webResearch: false, factChecking: false },
    aiWaitMs: 1_000,
  });
  definitions = routes
    .map(({ definition }) => definition)
    .filter(({ method, operationId }) => method !== 'get' && !READING.includes(operationId));
  const lastUsed = createLastUsedRecorder(db, logger, 60_000);
  const known = createKeys(db, lastUsed);
  const keys: Keys = {
    ...known,
    find: async (...given) => {
      const identified = await known.find(...given);
      await whenIdentified();
      return identified;
    },
  };
  api = await startApi(db, { keys, lastUsed }, routes);
  closing.push(
    () => api.close(),
    () => images.close(),
    () => runCanceller.close(),
    () => rm(blobFolder, { recursive: true }),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

/** A version and a proposal of a refresh, without the refresh. */
async function makeProposal({ workspaceId, articleId, sourceId, jobId }: Ids): Promise<string> {
  const nothing = { reason: 'edited', source: null, target: null, value: null, texts: [], behind: [] };
  await sql`
    INSERT INTO article_provenance (article_id, workspace_id, source_article_id, units, sources)
    VALUES (${articleId}, ${workspaceId}, ${sourceId}, '[]', '{}')`.execute(service.db);
  const { rows } = await sql<{ id: string }>`
    INSERT INTO proposals (id, workspace_id, article_id, job_id, source_article_id, unit, proposal)
    VALUES (gen_random_uuid(), ${workspaceId}, ${articleId}, ${jobId}, ${sourceId}, 'title',
      ${JSON.stringify({ key: 'title', action: 'change', ...nothing })}) RETURNING id`.execute(service.db);
  return rows[0]?.id ?? '';
}

async function newCaller(): Promise<Caller> {
  const role = await createRole(workspace.context, {
    name: `role ${performance.now()}`,
    permissions: [...PERMISSIONS],
  });
  const roleId = role.id as RoleId;
  const { key, apiKey } = await createApiKey(workspace.context, { label: 'caller', roleId });
  return { key, keyId: apiKey.id, roleId };
}

/** The body of an operation that succeeds, or null. */
function bodyOf({ body, bodyExample, upload }: RouteDefinition): { type: string; bytes: Buffer } | null {
  if (upload !== undefined) return { type: 'image/png', bytes: PNG };
  if (body === undefined) return null;
  return {
    type: 'application/json',
    bytes: Buffer.from(JSON.stringify(grounded(bodyExample, ids, imageUrl))),
  };
}

/**
 * Sends the head and half of the body, lets `change` be committed once the request is authenticated, and then sends the
 * rest. A request without a body waits between authentication and its verb instead.
 * @param change returns what the rest waits for
 */
async function send(definition: RouteDefinition, key: string, change: () => Promise<void>): Promise<string> {
  const body = bodyOf(definition);
  const tag = tags[definition.operationId];
  const identified = Promise.withResolvers<void>();
  const changed = Promise.withResolvers<void>();
  whenIdentified = async () => {
    identified.resolve();
    if (body === null) await changed.promise;
  };
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  const head = [
    `${definition.method.toUpperCase()} ${realPath(definition.path, ids)} HTTP/1.1`,
    `host: ${hostname}`,
    `authorization: Bearer ${key}`,
    'connection: close',
    ...(tag === undefined ? [] : [`if-match: ${tag}`]),
    ...(body === null ? [] : [`content-type: ${body.type}`, `content-length: ${body.bytes.length}`]),
  ];
  const half = body === null ? 0 : Math.floor(body.bytes.length / 2);
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  if (body !== null) socket.write(body.bytes.subarray(0, half));
  await identified.promise;
  await change();
  changed.resolve();
  if (body !== null) socket.write(body.bytes.subarray(half));
  await once(socket, 'close');
  return received;
}

// contract.md A40 and A42
test.each(LOSSES.map((loss) => [loss.name, loss] as const))(
  'a request that writes is refused, leaves nothing and gets no secret when %s while its body arrives, in every route',
  async (_name, { status, begin, end }) => {
    expect(definitions.length).toBeGreaterThan(50);
    const wrong: string[] = [];
    for (const definition of definitions) {
      const caller = await newCaller();
      let before = '';
      const response = await send(definition, caller.key, async () => {
        await begin(caller, definition);
        before = await fingerprint();
      });
      const what = `${definition.operationId}: ${response.slice(0, 12)} ${response.split('\r\n\r\n')[1]}`;
      if (!response.startsWith(`HTTP/1.1 ${status} `)) wrong.push(what);
      if ((await fingerprint()) !== before) wrong.push(`${what} wrote`);
      if (/whsec_|wcsk_/.test(response)) wrong.push(`${what} gave a secret`);
      await end?.();
    }
    expect(wrong).toEqual([]);
  },
);
