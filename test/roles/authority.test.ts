import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { authenticate } from '../../src/api-keys/authenticate.ts';
import { parseKey } from '../../src/api-keys/key-format.ts';
import { createArticle } from '../../src/articles/create.ts';
import { publishArticle } from '../../src/articles/publish.ts';
import { updateArticle } from '../../src/articles/update.ts';
import { createCategory } from '../../src/categories/create.ts';
import type { Actor, VerbContext } from '../../src/context.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { createTerm } from '../../src/guidance/glossary/write.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import { createProject } from '../../src/projects/create.ts';
import { createRole } from '../../src/roles/create.ts';
import { withAuthority } from '../../src/roles/present-authority.ts';
import { registerEndpoint } from '../../src/webhooks/endpoints/register.ts';
import { createSecretRing } from '../../src/webhooks/secrets/ring.ts';
import { type CreatedWorkspace, createWorkspace } from '../../src/workspaces/create.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';

const guard = createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.0/8') });
const secrets = createSecretRing([]);

let database: TestDatabase;
let proxy: TcpProxy;
/** One connection, whose messages are counted. */
let db: Database;
let sent = 0;
let workspace: CreatedWorkspace;
let operator: Actor;
let owner: Actor;
let projectId: ProjectId;

beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = proxy.address;
  db = createDatabase({ connectionString: url.href, poolSize: 1, prepareStatements: true });
  proxy.onSent = () => {
    sent += 1;
  };
});
beforeEach(async () => {
  workspace = await createWorkspace(database.db, { name: 'Acme', credits: 0 });
  operator = { kind: 'operator', workspaceId: workspace.workspaceId };
  ({ actor: owner } = await authenticate(database.db, parseKey(workspace.apiKey.key) ?? Buffer.alloc(0)));
  projectId = await createProject(contextOf(database.db, operator), {
    name: 'Garden',
    languages: ['en'],
    primaryLanguage: 'en',
  });
});
afterAll(async () => {
  await db.destroy();
  await proxy.close();
  await database.drop();
});

const contextOf = (of: Database, actor: Actor): VerbContext => ({
  db: withAuthority(of, actor),
  actor,
  requestId: 'test',
});

const setDeleted = () =>
  database.db
    .updateTable('workspaces')
    .set({ deleted_at: new Date() })
    .where('id', '=', workspace.workspaceId)
    .execute();

// contract.md A40
it('reading the authority again costs a write no message, whatever it begins with', async () => {
  const approved = async () => {
    const { article } = await createArticle(contextOf(database.db, operator), {
      projectId,
      title: randomUUID(),
    });
    const id = article.id as ArticleId;
    await database.db
      .updateTable('articles')
      .set({
        status: 'APPROVED',
        document: JSON.stringify({ version: 1, blocks: [{ id: 'p', type: 'paragraph', text: 'x' }] }),
      })
      .where('id', '=', id)
      .execute();
    return id;
  };
  const verbs: readonly ((context: VerbContext) => Promise<unknown>)[] = [
    async (context) => publishArticle(context, await approved()),
    async (context) => updateArticle(context, await approved(), { title: randomUUID() }),
    (context) => createArticle(context, { projectId, title: 'x' }),
    (context) =>
      createCategory(context, {
        primaryLanguage: 'en',
        translations: [{ language: 'en', name: randomUUID() }],
      }),
    (context) => createRole(context, { name: randomUUID(), permissions: [] }),
  ];
  for (const verb of verbs) {
    const messages = async (context: VerbContext) => {
      sent = 0;
      await verb(context);
      return sent;
    };
    await messages({ ...contextOf(db, owner), db });
    const without = await messages({ ...contextOf(db, owner), db });
    expect(await messages(contextOf(db, owner)), String(verb)).toBe(without);
    expect(without).toBeGreaterThan(1);
  }
});

// contract.md A42
it('nothing is made in a workspace that is deleted while the verb waits for its row', async () => {
  const verbs: readonly ((context: VerbContext) => Promise<unknown>)[] = [
    (context) =>
      registerEndpoint(
        { ...context, guard, secrets },
        { url: 'http://127.0.0.1:9/', events: ['article.updated'] },
      ),
    (context) => createRole(context, { name: 'late', permissions: [] }),
    (context) =>
      createTerm(context, {
        sourceLanguage: 'en',
        targetLanguage: null,
        source: 'late',
        target: null,
        caseSensitive: false,
      }),
  ];
  const made = async () => {
    const { rows } = await sql<{ made: number }>`
      SELECT (SELECT count(*) FROM webhook_endpoints) + (SELECT count(*) FROM roles)
        + (SELECT count(*) FROM glossary_terms) AS made`.execute(database.db);
    return rows[0]?.made;
  };
  const before = await made();
  for (const actor of [owner, operator]) {
    for (const verb of verbs) {
      let late: Promise<unknown> | undefined;
      await database.db.transaction().execute(async (tx) => {
        await tx
          .updateTable('workspaces')
          .set({ deleted_at: new Date() })
          .where('id', '=', workspace.workspaceId)
          .execute();
        late = verb(contextOf(db, actor)).catch((error: unknown) => error);
        await eventually(
          () => sql`SELECT FROM pg_locks WHERE NOT granted`.execute(database.db),
          ({ rows }) => rows.length > 0,
        );
      });
      const code = actor.kind === 'operator' ? 'RESOURCE_NOT_FOUND' : 'UNAUTHENTICATED';
      expect(await late).toMatchObject({ code });
      await database.db
        .updateTable('workspaces')
        .set({ deleted_at: null })
        .where('id', '=', workspace.workspaceId)
        .execute();
    }
  }
  expect(await made()).toBe(before);
});

it('a deleted workspace stays deleted for the command line as well', async () => {
  await setDeleted();
  const late = createArticle(contextOf(db, operator), { projectId, title: 'late' });
  await expect(late).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
});

it('a release before this one adds a permission, and a built-in role has it without its row', async () => {
  await sql`UPDATE roles SET permissions = '{}' WHERE id = ${workspace.roles.owner}`.execute(database.db);
  await createArticle(contextOf(db, owner), { projectId, title: 'allowed' });
});
