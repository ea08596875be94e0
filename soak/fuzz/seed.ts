import { createApiKey } from '../../src/api-keys/create.ts';
import type { VerbContext } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';
import { newId } from '../../src/ids.ts';
import { createProject } from '../../src/projects/create.ts';
import { createRole } from '../../src/roles/create.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createArticle } from '../../test/support/articles.ts';

/** What the fuzzer starts from. */
export interface Seed {
  /** The raw key of an admin, who may do all but delete the workspace. */
  readonly key: string;
  readonly ownKeyId: string;
  /** Real values by `path.<name>`, `query.<name>` or `body.<name>`, enough of them to bear deletions. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

const LANGUAGES = ['en', 'de', 'es', 'fr', 'ja', 'pt-BR', 'ar'];

const times = <Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** Fills a workspace with some of everything that a path can name. */
export async function seedWorkspace({
  db,
  url,
  neighbourUrl,
}: {
  db: Database;
  url: string;
  neighbourUrl: string;
}): Promise<Seed> {
  const { workspaceId, roles, apiKey } = await createWorkspace(db, { name: 'Fuzzed', credits: 1_000_000 });
  const context: VerbContext = { db, actor: { kind: 'operator', workspaceId }, requestId: 'seed' };
  const workspace = { id: workspaceId, key: apiKey.key, keyId: apiKey.id, roles, context };

  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape
  const call = async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${apiKey.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const inWorkspace = (path: string): string => `/api/workspaces/${workspaceId}${path}`;

  const projectIds = await times(20, (index) =>
    createProject(context, { name: `Project ${index}`, languages: LANGUAGES, primaryLanguage: 'en' }),
  );
  const articles = await times(60, (index) =>
    createArticle(db, workspace, projectIds[index % projectIds.length] ?? newId(), {
      status: index % 2 === 0 ? 'PUBLISHED' : 'DRAFT',
    }),
  );
  const roleIds = await times(60, async (index) => {
    const role = await createRole(context, { name: `Role ${index}`, permissions: ['articles.read'] });
    return role.id;
  });
  const keyIds = await times(60, async (index) => {
    const created = await createApiKey(context, { label: `Key ${index}`, roleId: roles.editor });
    return created.apiKey.id;
  });
  const register = async (): Promise<string> => {
    const events = ['article.created', 'article.updated'];
    const { endpoint } = await call('POST', inWorkspace('/webhooks'), { url: neighbourUrl, events });
    return endpoint.id;
  };
  // Keeps its deliveries: the fuzzer does not get its id.
  await register();
  const jobIds = await times(30, async (index) => {
    const { job } = await call('POST', `/api/articles/${articles[index]?.id}/translations`, {
      language: LANGUAGES[1 + (index % 3)],
    });
    return job.id as string;
  });
  const deliveries: { id: string }[] = (await call('GET', inWorkspace('/webhooks'))).deliveries;
  const endpointIds = await times(60, register);
  const categoryIds = await times(60, async (index) => {
    const { category } = await call('POST', inWorkspace('/categories'), {
      primaryLanguage: 'en',
      translations: [{ language: 'en', name: `Category ${index}` }],
    });
    return category.id as string;
  });
  const own = await createApiKey(context, { label: 'Fuzzer', roleId: roles.admin });
  return {
    key: own.key,
    ownKeyId: own.apiKey.id,
    values: {
      'path.workspaceId': [workspaceId],
      'path.projectId': projectIds,
      'path.articleId': articles.map(({ id }) => id),
      'path.roleId': roleIds,
      'path.keyId': keyIds,
      'path.endpointId': endpointIds,
      'path.jobId': jobIds,
      'path.deliveryId': deliveries.map(({ id }) => id),
      'path.categoryId': categoryIds,
      'body.categoryIds[*]': categoryIds,
      'body.url': [neighbourUrl],
      'body.roleId': [roles.editor, roles.admin],
      'body.language': LANGUAGES,
      'query.language': LANGUAGES,
    },
  };
}
