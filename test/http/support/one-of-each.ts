import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { createApiKey } from '../../../src/api-keys/create.ts';
import { readDecisions } from '../../../src/document/translation/style-sheet.ts';
import { outlineExample } from '../../../src/generation/examples.ts';
import { setLimits } from '../../../src/workspaces/set-limits.ts';
import { PNG } from '../../articles/support.ts';
import { createArticle } from '../../support/articles.ts';
import type { TestService, TestWorkspace } from '../../support/service.ts';

export { PNG };
/** Nothing listens there, and no name has to be asked for. */
export const NOWHERE = 'http://127.0.0.1:9/image.png';

/** Ids of real things by the names of path parameters, and some that examples of bodies need. */
export type Ids = Readonly<Record<string, string>>;

/** Makes one of each thing that paths name in a workspace whose suggestions are refused: no worker answers here. */
export async function makeOneOfEach(service: TestService, workspace: TestWorkspace): Promise<Ids> {
  await setLimits(workspace.context, { aiOperations: 0 });
  const { key, id: workspaceId } = workspace;
  const ask = async (method: string, path: string, body?: unknown) => {
    const { status, body: answered } = await service.call(key, method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answered)}`);
    return answered;
  };
  const of = (path: string) => `/api/workspaces/${workspaceId}${path}`;
  const projectId = await service.project(workspace);
  const { endpoint } = await ask('POST', of('/webhooks'), { url: NOWHERE, events: ['article.updated'] });
  const article = await createArticle(service.db, workspace, projectId, { status: 'PUBLISHED' });
  await ask('PATCH', `/api/articles/${article.id}`, { title: 'Another' });
  const second = await createApiKey(workspace.context, { label: 'x', roleId: workspace.roles.admin });
  await service.call(second.key, 'PATCH', `/api/articles/${article.id}`, { title: 'A third' });
  const { deliveries } = await ask('GET', of('/webhooks'));
  await service.db
    .insertInto('article_style_sheets')
    .values({
      article_id: article.id,
      workspace_id: workspaceId,
      sheet: JSON.stringify({ ...readDecisions({}, 'en'), terms: [] }),
    })
    .execute();
  const { revisions } = await ask('GET', `/api/articles/${article.id}/revisions`);
  const uploaded = await fetch(new URL(`/api/articles/${article.id}/assets`, service.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
    body: PNG,
  });
  const source = await createArticle(service.db, workspace, projectId);
  const { job } = await ask('POST', `/api/articles/${source.id}/translations`, { language: 'es' });
  // In a language that no other test makes of the source, so that it can be attached.
  const attached = await createArticle(service.db, workspace, projectId, { language: 'de' });
  const { category } = await ask('POST', of('/categories'), {
    primaryLanguage: 'en',
    translations: [{ language: 'en', name: 'Gardens' }],
  });
  const { role } = await ask('POST', of('/roles'), { name: 'x', permissions: [] });
  const { term } = await ask('POST', of('/glossary'), { sourceLanguage: 'en', source: 'Plantwise' });
  const { brandVoice } = await ask('POST', of('/brand-voices'), { name: 'x', instructions: 'x' });
  const { contentTemplate } = await ask('POST', of('/content-templates'), { name: 'x', text: 'x' });
  const outlined = await createArticle(service.db, workspace, projectId, {
    document: { version: 1, blocks: [] },
  });
  await service.db
    .updateTable('articles')
    .set({
      outline: JSON.stringify(outlineExample),
      generation_config: JSON.stringify({ topic: 'Gardens' }),
    })
    .where('id', '=', outlined.id)
    .execute();
  const entry = await service.db
    .insertInto('translation_memory')
    .values({
      workspace_id: workspace.id,
      project_id: projectId,
      article_id: article.id,
      layer: 'machine',
      made_by: 'x',
      text_key: 'x',
      kind: 'paragraph',
      source_language: 'en',
      target_language: 'es',
      source_text: 'x',
      target_text: 'x',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return {
    workspaceId,
    projectId,
    articleId: article.id,
    sourceId: source.id,
    outlinedId: outlined.id,
    attachedId: attached.id,
    jobId: job.id,
    endpointId: endpoint.id,
    deliveryId: deliveries[0].id,
    revisionId: revisions[0].id,
    assetId: ((await uploaded.json()) as { asset: { id: string } }).asset.id,
    categoryId: category.id,
    roleId: role.id,
    keyId: second.apiKey.id,
    termId: term.id,
    entryId: entry.id,
    brandVoiceId: brandVoice.id,
    contentTemplateId: contentTemplate.id,
    language: 'de',
  };
}

/** The path with real ids, `others` first. */
export function realPath(path: string, ids: Ids, others: Ids = {}): string {
  const article = /\/(?:translations|refresh)/.test(path)
    ? ids.sourceId
    : /\/(?:outline|generate)/.test(path)
      ? ids.outlinedId
      : ids.articleId;
  const real: Record<string, string | undefined> = { ...ids, articleId: article, ...others };
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => real[name] ?? randomUUID());
}

/** The example with what is real here. */
export const grounded = (example: unknown, ids: Ids, url = NOWHERE): unknown =>
  JSON.parse(
    JSON.stringify(example ?? {})
      .replaceAll(/"roleId":"[^"]+"/g, `"roleId":"${ids.roleId}"`)
      .replace(/^\{"articleId":"[^"]+"/, `{"articleId":"${ids.attachedId}"`)
      .replaceAll(/"url":"[^"]+"/g, `"url":"${url}"`)
      .replaceAll('"categoryIds":[]', `"categoryIds":["${ids.categoryId}"]`),
  );

/** @returns a text that changes with every row that is written or removed */
export async function fingerprintOf({ db }: Pick<TestService, 'db'>): Promise<() => Promise<string>> {
  const { rows } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
      AND relkind IN ('r', 'p') AND NOT relispartition AND relname !~ '^kysely'`.execute(db);
  // When a key was last used is written whenever it is; an image by URL is on record before it is requested.
  const requested = "WHERE action <> 'assets.requested'";
  const query = rows
    .map(({ name }) => {
      const latest = name === 'api_keys' ? 0 : 'max(xmin::text::bigint)';
      return `SELECT count(*), ${latest} FROM ${name} ${name === 'audit_entries' ? requested : ''}`;
    })
    .join(' UNION ALL ');
  // A function's statement is planned once a connection; to plan this one takes far longer than to run it.
  await sql`
    CREATE FUNCTION fingerprint() RETURNS text LANGUAGE plpgsql AS ${sql.lit(
      `BEGIN RETURN (SELECT json_agg(each) FROM (${query}) AS each (count, latest)); END`,
    )}`.execute(db);
  return async () =>
    (await sql<{ fingerprint: string }>`SELECT fingerprint()`.execute(db)).rows[0]?.fingerprint ?? '';
}
