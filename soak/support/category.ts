import { sql } from 'kysely';
import { renderingColumns } from '../../src/articles/rendering.ts';
import { createCategory } from '../../src/categories/create.ts';
import type { VerbContext } from '../../src/context.ts';
import { EMPTY_DOCUMENT } from '../../src/document/format/schema.ts';
import { renderDocument } from '../../src/document/render/document.ts';
import type { CategoryId } from '../../src/ids.ts';
import { createProject } from '../../src/projects/create.ts';

/**
 * Stores published articles of one new project, with one statement and without events. They are rendered: else the first
 * save of each would send an event of its own (contract.md R3).
 */
export async function storePublishedArticles(context: VerbContext, count: number): Promise<void> {
  const projectId = await createProject(context, { name: 'Many', languages: ['en'], primaryLanguage: 'en' });
  const { content_html, content_markdown, rendered_by } = renderingColumns(
    renderDocument({ version: 1, blocks: [] }),
  );
  await sql`
    INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, content_html,
      content_markdown, rendered_by, primary_language, translation_group_id, published_at)
    SELECT gen_random_uuid(), ${context.actor.workspaceId}, ${projectId}, 'What to plant in week ' || n,
      'plant-' || n, 'PUBLISHED', ${EMPTY_DOCUMENT}, ${content_html}, ${content_markdown}, ${rendered_by}, 'en',
      gen_random_uuid(), now()
    FROM generate_series(1, ${count}::integer) AS n`.execute(context.db);
}

/** A category of this many articles: renaming it emits an event for each. */
export async function storeCategory(context: VerbContext, articles: number): Promise<CategoryId> {
  const { id } = await createCategory(context, {
    primaryLanguage: 'en',
    translations: [{ language: 'en', name: `Carried by ${articles}` }],
  });
  await sql`
    INSERT INTO article_categories (workspace_id, article_id, category_id, position)
    SELECT workspace_id, id, ${id}, 0 FROM articles WHERE workspace_id = ${context.actor.workspaceId}
    ORDER BY id LIMIT ${articles}`.execute(context.db);
  return id as CategoryId;
}
