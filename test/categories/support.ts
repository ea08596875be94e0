import { sql } from 'kysely';
import type { Category } from '../../src/categories/schemas.ts';
import type { Database } from '../../src/db/database.ts';
import type { ArticleId, EndpointId, ProjectId } from '../../src/ids.ts';
import { insertEndpoint } from '../support/events.ts';
import type { Answer, TestService, TestWorkspace } from '../support/service.ts';

/** The calls a client makes around categories. `names` maps language tags to names; the first is the primary one. */
export const categoryCalls = (service: TestService) => {
  const pathOf = (workspace: TestWorkspace, id?: string): string =>
    `/api/workspaces/${workspace.id}/categories${id === undefined ? '' : `/${id}`}`;
  const translationsOf = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([language, name]) => ({ language, name }));
  const calls = {
    pathOf,
    list: async (workspace: TestWorkspace) =>
      (await service.call(workspace.key, 'GET', pathOf(workspace))).body.categories,
    create: (workspace: TestWorkspace, names: Readonly<Record<string, string>>): Promise<Answer> =>
      service.call(workspace.key, 'POST', pathOf(workspace), {
        primaryLanguage: Object.keys(names)[0],
        translations: translationsOf(names),
      }),
    /** A category that must come into being. */
    async category(workspace: TestWorkspace, names: Readonly<Record<string, string>>): Promise<Category> {
      const response = await calls.create(workspace, names);
      if (response.status !== 201) throw new Error(JSON.stringify(response.body));
      return response.body.category;
    },
    patch: (workspace: TestWorkspace, id: string, body: unknown): Promise<Answer> =>
      service.call(workspace.key, 'PATCH', pathOf(workspace, id), body),
    rename: (
      workspace: TestWorkspace,
      id: string,
      names: Readonly<Record<string, string>>,
    ): Promise<Answer> => calls.patch(workspace, id, { translations: translationsOf(names) }),
    remove: (workspace: TestWorkspace, id: string): Promise<Answer> =>
      service.call(workspace.key, 'DELETE', pathOf(workspace, id)),
    assign: (workspace: TestWorkspace, articleId: string, categoryIds: readonly string[]): Promise<Answer> =>
      service.call(workspace.key, 'PUT', `/api/articles/${articleId}/categories`, { categoryIds }),
    /** A receiver's registration, as its row: nothing is sent, for no worker runs. */
    endpoint: (workspace: TestWorkspace, events: string[], active = true): Promise<EndpointId> =>
      insertEndpoint(service.db, workspace.id, { events, active }),
    /** The stored events of a workspace, parsed, oldest first, with their exact bytes as text. */
    async events(workspace: TestWorkspace) {
      const rows = await service.db
        .selectFrom('events')
        .select(['article_id', 'body', 'type'])
        .where('workspace_id', '=', workspace.id)
        .orderBy('id')
        .execute();
      return rows.map(({ article_id, type, body }) => ({
        articleId: article_id,
        type,
        text: body.toString(),
        body: JSON.parse(body.toString()),
      }));
    },
    deliveries: (workspace: TestWorkspace) =>
      service.db
        .selectFrom('webhook_open')
        .innerJoin('events', 'events.id', 'event_id')
        .select(['endpoint_id', 'event_type', 'article_id'])
        .where('webhook_open.workspace_id', '=', workspace.id)
        .execute(),
    async forgetEvents(workspace: TestWorkspace) {
      await service.db.deleteFrom('event_fanouts').where('workspace_id', '=', workspace.id).execute();
      await service.db.deleteFrom('webhook_open').where('workspace_id', '=', workspace.id).execute();
      await service.db.deleteFrom('events').where('workspace_id', '=', workspace.id).execute();
    },
    audit: (workspace: TestWorkspace, action: string) =>
      service.db
        .selectFrom('audit_entries')
        .select(['target_id', 'actor_id', 'details'])
        .where('workspace_id', '=', workspace.id)
        .where('action', '=', action)
        .orderBy('created_at')
        .execute(),
  };
  return calls;
};

/** Stores many PUBLISHED articles that carry a category, and answers their ids. */
export async function publishMany(
  db: Database,
  { id: workspaceId }: Pick<TestWorkspace, 'id'>,
  projectId: ProjectId,
  categoryId: string,
  count: number,
): Promise<ArticleId[]> {
  const { rows } = await sql<{ article_id: ArticleId }>`
    WITH stored AS (
      INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
        translation_group_id, published_at)
      SELECT gen_random_uuid(), ${workspaceId}, ${projectId}, 'Carrier ' || number, gen_random_uuid(), 'PUBLISHED',
        '{"version": 1, "blocks": []}', 'en', gen_random_uuid(), now()
      FROM generate_series(1, ${count}::integer) AS number
      RETURNING id
    )
    INSERT INTO article_categories (workspace_id, article_id, category_id, position)
    SELECT ${workspaceId}, id, ${categoryId}, 0 FROM stored
    RETURNING article_id`.execute(db);
  return rows.map((row) => row.article_id);
}
