import { sql } from 'kysely';
import { assetPath } from '../assets/address.ts';
import type { VerbContext } from '../context.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { renderHtml, renderMarkdown } from '../document/render.ts';
import type { DocumentJson } from '../document/schema.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId, AssetId, ProjectId } from '../ids.ts';
import { updatedEvents } from './events.ts';
import { type ArticleRow, articleColumns } from './queries.ts';

/** What rendering a body needs to know of its article. */
export interface Renderable {
  readonly id: ArticleId;
  readonly project_id: ProjectId;
  readonly document: DocumentJson;
}

/** contentHtml and contentMarkdown, as columns. */
export interface Rendering {
  readonly content_html: string;
  readonly content_markdown: string;
}

/** The articles a document links to and the assets it shows. */
export function referencesOf(document: DocumentJson): { articleIds: ArticleId[]; assetIds: AssetId[] } {
  const articleIds = new Set<ArticleId>();
  const assetIds = new Set<AssetId>();
  for (const block of document.blocks) {
    if (block.type === 'image') assetIds.add(block.assetId as AssetId);
    if ('links' in block) for (const link of block.links ?? []) articleIds.add(link.articleId as ArticleId);
  }
  return { articleIds: [...articleIds], assetIds: [...assetIds] };
}

/** The addresses of those articles that a link of the project may lead to (interface.md, Document format 3). */
async function addressesOf(
  db: Queryable,
  projectId: ProjectId,
  articleIds: readonly ArticleId[],
): Promise<Map<string, string>> {
  if (articleIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('articles')
    .select(['id', 'published_url'])
    .where('project_id', '=', projectId)
    .where('id', 'in', articleIds)
    .where('status', '=', 'PUBLISHED')
    .where('published_url', 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.id, row.published_url ?? '']));
}

/** The article's own images by id; the hero is the cover and never part of the body. */
async function imagesOf(db: Queryable, articleId: ArticleId, assetIds: readonly AssetId[]) {
  if (assetIds.length === 0) return new Map<string, { url: string; altText: string }>();
  const rows = await db
    .selectFrom('assets')
    .select(['id', 'content_hash', 'alt_text'])
    .where('article_id', '=', articleId)
    .where('id', 'in', assetIds)
    .where('role', '=', 'inline')
    .execute();
  return new Map(rows.map((row) => [row.id as string, { url: assetPath(row), altText: row.alt_text }]));
}

/** Renders an article's body as of now (interface.md, Article: on every save and again on publish). */
export async function renderArticle(db: Queryable, article: Renderable): Promise<Rendering> {
  const { articleIds, assetIds } = referencesOf(article.document);
  const addresses = await addressesOf(db, article.project_id, articleIds);
  const images = await imagesOf(db, article.id, assetIds);
  const resolver = {
    link: (id: string): string | null => addresses.get(id) ?? null,
    asset: (id: string) => images.get(id) ?? null,
  };
  return {
    content_html: renderHtml(article.document, resolver),
    content_markdown: renderMarkdown(article.document, resolver),
  };
}

/**
 * Renders an article again and stores the result when it is another one: an image of it changed, or an
 * article it links to got or lost its address. Its updatedAt moves then.
 * @returns the article as it is now, and whether it was stored anew
 */
export async function renderAgain(
  tx: Tx,
  article: ArticleRow,
): Promise<{ article: ArticleRow; rendered: boolean }> {
  const rendering = await renderArticle(tx, article);
  const same =
    rendering.content_html === article.content_html &&
    rendering.content_markdown === article.content_markdown;
  if (same) return { article, rendered: false };
  const stored = await tx
    .updateTable('articles')
    .set({ ...rendering, updated_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', article.id)
    .returning(articleColumns)
    .executeTakeFirstOrThrow();
  return { article: stored, rendered: true };
}

/**
 * Renders the articles that link to one whose address appeared or went away. What a site shows of a
 * PUBLISHED linker changed with it, so those emit article.updated. An article without an address resolves
 * no link, so nothing is looked for then.
 */
export async function renderLinkers(
  tx: Tx,
  context: Pick<VerbContext, 'actor' | 'requestId'>,
  target: Pick<ArticleRow, 'id' | 'project_id' | 'published_url'>,
): Promise<void> {
  if (target.published_url === null) return;
  const linkers = await tx
    .selectFrom('articles')
    .select(articleColumns)
    .where('project_id', '=', target.project_id)
    .where('id', '!=', target.id)
    .where(
      sql<boolean>`jsonb_path_query_array(document, '$.blocks[*].links[*].articleId') ? ${target.id}::text`,
    )
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const linker of linkers) {
    const { article, rendered } = await renderAgain(tx, linker);
    if (rendered) await recordEvents(tx, context, updatedEvents(article, ['content']));
  }
}
