import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authenticate } from '../../src/api-keys/authenticate.ts';
import { createApiKey } from '../../src/api-keys/create.ts';
import { parseKey } from '../../src/api-keys/key-format.ts';
import { revokeApiKey } from '../../src/api-keys/revoke.ts';
import { rotateApiKey } from '../../src/api-keys/rotate.ts';
import { createArticle } from '../../src/articles/create.ts';
import { updateArticle } from '../../src/articles/update.ts';
import { createCategory } from '../../src/categories/create.ts';
import type { KeyActor, VerbContext } from '../../src/context.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { ServiceError } from '../../src/errors.ts';
import type { ApiKeyId, ArticleId, ProjectId, RoleId, WorkspaceId } from '../../src/ids.ts';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import { PERMISSIONS, type Permission } from '../../src/permissions.ts';
import { createProject } from '../../src/projects/create.ts';
import { createRole } from '../../src/roles/create.ts';
import { deleteRole } from '../../src/roles/delete.ts';
import { withAuthority } from '../../src/roles/present-authority.ts';
import { updateRole } from '../../src/roles/update.ts';
import { registerEndpoint } from '../../src/webhooks/endpoints/register.ts';
import { createSecretRing } from '../../src/webhooks/secrets/ring.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { deleteWorkspace } from '../../src/workspaces/delete.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** Verbs of authority in all; `npm run soak:authority` makes 10,000. */
const INTERLEAVINGS = Number(process.env.AUTHORITY_INTERLEAVINGS ?? 120);
const WRITERS = 4;
const MAX_WAIT_MS = 2_000;
const guard = createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.0/8') });
const secrets = createSecretRing([]);

let database: TestDatabase;
/** The connections of the stream, and those of the verbs of authority. */
let writing: Database;
let deciding: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  writing = createDatabase({ connectionString: database.url, poolSize: WRITERS });
  deciding = createDatabase({ connectionString: database.url, poolSize: 3 });
});
afterAll(() => database.drop());

/** From when until when a caller certainly lacks authority, in milliseconds of `performance.now()`. */
interface Gap {
  readonly from: number;
  to: number;
}

/** A key with a role of its own, as it was authenticated before anything happened to it. */
interface Caller {
  readonly actor: KeyActor;
  readonly keyId: ApiKeyId;
  readonly roleId: RoleId;
  readonly gaps: Gap[];
}

interface Tenant {
  readonly id: WorkspaceId;
  readonly operator: VerbContext;
  readonly projectId: ProjectId;
  readonly articleId: ArticleId;
  /** The newest last; those before still send. */
  readonly callers: Caller[];
}

const random = <Item>(items: readonly Item[]): Item => {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
};
function contextOf(db: Database, authenticated: KeyActor): VerbContext {
  // What a request needs is its own.
  const actor = { ...authenticated, needed: new Set<Permission>() };
  return { db: withAuthority(db, actor), actor, requestId: 'interleaving' };
}

async function callerOf(key: string, keyId: ApiKeyId, roleId: RoleId): Promise<Caller> {
  const hash = parseKey(key);
  if (hash === null) throw new Error('not a key');
  const { actor } = await authenticate(deciding, hash);
  return { actor, keyId, roleId, gaps: [] };
}

let made = 0;
async function addCaller(tenant: Tenant): Promise<Caller> {
  made += 1;
  const { id: roleId } = await createRole(tenant.operator, {
    name: `role ${made}`,
    permissions: [...PERMISSIONS],
  });
  const { key, apiKey } = await createApiKey(tenant.operator, { label: 'x', roleId: roleId as RoleId });
  const caller = await callerOf(key, apiKey.id, roleId as RoleId);
  tenant.callers.push(caller);
  return caller;
}

async function newTenant(): Promise<Tenant> {
  const { workspaceId: id } = await createWorkspace(deciding, { name: 'Acme', credits: 0 });
  const actor = { kind: 'operator', workspaceId: id } as const;
  const operator = { db: withAuthority(deciding, actor), actor, requestId: 'operator' };
  const projectId = await createProject(operator, {
    name: 'Garden',
    languages: ['en'],
    primaryLanguage: 'en',
  });
  const article = await createArticle(operator, { projectId, title: 'Spring' });
  const tenant: Tenant = { id, operator, projectId, articleId: article.article.id as ArticleId, callers: [] };
  for (let count = 0; count < 3; count += 1) await addCaller(tenant);
  return tenant;
}

/** What the stream writes, each as the request of a caller. */
const WRITES: readonly ((context: VerbContext, tenant: Tenant) => Promise<unknown>)[] = [
  (context, { articleId }) => updateArticle(context, articleId, { title: `Spring ${Math.random()}` }),
  (context, { projectId }) => createArticle(context, { projectId, title: 'Summer' }),
  (context) =>
    createCategory(context, {
      primaryLanguage: 'en',
      translations: [{ language: 'en', name: `c${Math.random()}` }],
    }),
  (context) => createRole(context, { name: `r${Math.random()}`, permissions: [] }),
  (context) =>
    registerEndpoint(
      { ...context, guard, secrets },
      { url: 'http://127.0.0.1:9/', events: ['article.updated'] },
    ),
];

/** Marks the caller as without authority from now on. */
function loses(caller: Caller): Gap {
  const gap = { from: performance.now(), to: Number.POSITIVE_INFINITY };
  caller.gaps.push(gap);
  return gap;
}

/** True for what a verb may be refused with, when others change and delete at the same moment. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError &&
  ['UNAUTHENTICATED', 'FORBIDDEN', 'RESOURCE_NOT_FOUND', 'CONFLICT'].includes(error.code);

// contract.md A40 and A41
test(
  'rotations, revocations, edits and deletions of roles and workspaces beside a stream of writes: no deadlock, no long wait, and nothing that began after a loss of authority succeeds',
  async () => {
    let tenant = await newTenant();
    let isOver = false;
    let longest = 0;
    const count = { decided: 0, written: 0, refused: 0 };
    const late: string[] = [];

    const write = async (): Promise<void> => {
      while (!isOver) {
        const here = tenant;
        const caller = random(here.callers.slice(-5));
        const began = performance.now();
        const verb = random(WRITES);
        try {
          await verb(contextOf(writing, caller.actor), here);
          const ended = performance.now();
          count.written += 1;
          if (caller.gaps.some(({ from, to }) => from < began && ended < to)) late.push(String(verb));
        } catch (error) {
          if (!isRefusal(error)) throw error;
          count.refused += 1;
          // Refused ones cost next to nothing, and the stream is to be one of writes.
          await sleep(1);
        }
      }
    };

    /** Runs a verb of authority and notes how long it waited. @returns whether it was done */
    const decide = async (verb: () => Promise<unknown>): Promise<boolean> => {
      const began = performance.now();
      try {
        await verb();
        return true;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return false;
      } finally {
        count.decided += 1;
        longest = Math.max(longest, performance.now() - began);
      }
    };
    const editing = new Set<RoleId>();
    const revoke = async (caller: Caller, by: VerbContext) => {
      if (await decide(() => revokeApiKey(by, caller.keyId))) loses(caller);
    };
    const decisions: readonly ((caller: Caller, by: VerbContext) => Promise<void>)[] = [
      async (caller, by) => {
        let rotated: Awaited<ReturnType<typeof rotateApiKey>> | undefined;
        const isDone = await decide(async () => {
          rotated = await rotateApiKey(by, caller.keyId);
        });
        if (!isDone || rotated === undefined) return;
        loses(caller);
        tenant.callers.push(await callerOf(rotated.key, rotated.apiKey.id, caller.roleId));
      },
      revoke,
      async (caller, by) => {
        const { roleId } = caller;
        // One that gave the permissions back would end the gap of another.
        if (editing.has(roleId)) return;
        editing.add(roleId);
        if (await decide(() => updateRole(by, roleId, { permissions: [] }))) {
          const gap = loses(caller);
          await sleep(3);
          gap.to = performance.now();
          await decide(() => updateRole(tenant.operator, roleId, { permissions: [...PERMISSIONS] }));
        }
        editing.delete(roleId);
      },
      async (caller, by) => {
        await Promise.all([revoke(caller, by), decide(() => deleteRole(by, caller.roleId))]);
      },
    ];

    const stream = Promise.all(Array.from({ length: WRITERS }, write));
    let failure: unknown;
    stream.catch((error: unknown) => {
      failure = error;
    });
    for (let round = 1; count.decided < INTERLEAVINGS && failure === undefined; round += 1) {
      await sleep(Math.random() * 5);
      const { callers, operator } = tenant;
      const newest = callers.slice(-3);
      const by = () => random([operator, contextOf(deciding, random(newest).actor)]);
      if (round % 10 === 0) {
        const all = [...callers];
        if (await decide(() => deleteWorkspace(by()))) {
          for (const caller of all) loses(caller);
          tenant = await newTenant();
        }
        continue;
      }
      await Promise.all([random(decisions)(random(newest), by()), random(decisions)(random(newest), by())]);
      const alive = callers.slice(-3).filter(({ gaps }) => gaps.every(({ to }) => to < performance.now()));
      for (let missing = 3 - alive.length; missing > 0; missing -= 1) await addCaller(tenant);
    }
    isOver = true;
    await stream;

    expect(late).toEqual([]);
    expect(longest).toBeLessThan(MAX_WAIT_MS);
    expect(count.written).toBeGreaterThan(INTERLEAVINGS);
    expect(count.refused).toBeGreaterThan(INTERLEAVINGS / 10);
    if (process.env.AUTHORITY_INTERLEAVINGS !== undefined) {
      process.stdout.write(`${JSON.stringify({ ...count, longest: Math.round(longest) })}\n`);
    }
    // A deadlock that a retry hid would still be one. A backend reports those it met at its end.
    await Promise.all([writing.destroy(), deciding.destroy()]);
    const { rows } = await sql<{ deadlocks: number }>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`.execute(database.db);
    expect(rows).toEqual([{ deadlocks: 0 }]);
  },
  Number.POSITIVE_INFINITY,
);
