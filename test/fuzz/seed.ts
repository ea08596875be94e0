import { createApiKey } from '../../src/api-keys/create.ts';
import type { VerbContext } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';
import { createProject } from '../../src/projects/create.ts';
import { createRole } from '../../src/roles/create.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createArticle } from '../support/articles.ts';

/** What the fuzzer starts from. */
export interface Seed {
  /** The raw key of an owner. */
  readonly key: string;
  readonly ownKeyId: string;
  /** Real ids for each path parameter, enough of them that deleting some leaves others. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
}

const LANGUAGES = ['en', 'de', 'es', 'fr', 'ja', 'pt-BR', 'ar'];

const times = <Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** Fills a workspace with some of everything that a path can name. */
export async function seedWorkspace({
  db,
  url,
  receiverUrl,
}: {
  db: Database;
  url: string;
  receiverUrl: string;
}): Promise<Seed> {
  const { workspaceId, roles, apiKey } = await createWorkspace(db, { name: 'Fuzzed', credits: 1_000_000 });
  const context: VerbContext = { db, actor: { kind: 'operator', workspaceId }, requestId: 'seed' };
  const workspace = { id: workspaceId, key: apiKey.key, keyId: apiKey.id, roles, context };

  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${apiKey.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const inWorkspace = (path: string): string => `/api/workspaces/${workspaceId}${path}`;

  const projectId = await createProject(context, { name: 'Fuzzed', languages: LANGUAGES, primaryLanguage: 'en' });
  const articles = await times(30, (index) =>
    createArticle(db, workspace, projectId, { status: index % 2 === 0 ? 'PUBLISHED' : 'DRAFT' }),
  );
  const roleIds = await times(20, async (index) => {
    const role = await createRole(context, { name: `Role ${index}`, permissions: ['articles.read'] });
    return role.id;
  });
  const keyIds = await times(40, async (index) => {
    const created = await createApiKey(context, { label: `Key ${index}`, roleId: roles.editor });
    return created.apiKey.id;
  });
  const endpointIds = await times(20, async () => {
    const events = ['article.created', 'article.updated'];
    const { endpoint } = await ask('POST', inWorkspace('/webhooks'), { url: receiverUrl, events });
    return endpoint.id as string;
  });
  const jobIds = await times(10, async (index) => {
    const { job } = await ask('POST', `/api/articles/${articles[index]?.id}/translations`, { language: 'es' });
    return job.id as string;
  });
  const { deliveries } = (await ask('GET', inWorkspace('/webhooks'))) as { deliveries: { id: string }[] };
  return {
    key: apiKey.key,
    ownKeyId: apiKey.id,
    ids: {
      workspaceId: [workspaceId],
      projectId: [projectId],
      articleId: articles.map(({ id }) => id),
      roleId: roleIds,
      keyId: keyIds,
      endpointId: endpointIds,
      jobId: jobIds,
      deliveryId: deliveries.map(({ id }) => id),
    },
  };
}
