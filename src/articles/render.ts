import { sql } from 'kysely';
import { assetPath } from '../blobs/asset.ts';
import type { VerbContext } from '../context.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { doTask } from '../document/threads/pool.ts';
import type { Parsed, References } from '../document/threads/tasks.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId, AssetId, ProjectId } from '../ids.ts';
import { updatedEvents } from './events.ts';
import { type ArticleRow, articleColumns } from './queries.ts';

/** What rendering a body needs to know of its article. */
export interface Renderable {
  readonly id: ArticleId;
  readonly project_id: ProjectId;
  /** documentJson as text. */
  readonly document: string;
}

/** contentHtml and contentMarkdown, as columns. */
export interface Rendering {
  readonly content_html: string;
  readonly content_markdown: string;
}

// In JSON text a quote inside a string is escaped, so these match keys alone; the document is not parsed for them.
const REFERENCE = /"(articleId|assetId)": ?"([\da-f-]{36})"/g;

/** The articles a document links to and the assets it shows. */
export function referencesOf(document: string): { articleIds: ArticleId[]; assetIds: AssetId[] } {
  const articleIds = new Set<ArticleId>();
  const assetIds = new Set<AssetId>();
  for (const [, key, id] of document.matchAll(REFERENCE)) {
    if (key === 'assetId') assetIds.add(id as AssetId);
    else articleIds.add(id as ArticleId);
  }
  return { articleIds: [...articleIds], assetIds: [...assetIds] };
}

/** The addresses of those articles that a link of the project may lead to (contract.md F5). */
export async function addressesOf(
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

/** What the body's links and images are as of now. */
export async function readReferences(db: Queryable, article: Renderable): Promise<References> {
  const { articleIds, assetIds } = referencesOf(article.document);
  return {
    links: await addressesOf(db, article.project_id, articleIds),
    images: await imagesOf(db, article.id, assetIds),
  };
}

/** Renders a body with what its links and images are; `texts` are its parsed texts, when there are some. */
export async function renderBody(
  document: string,
  references: References,
  texts?: Parsed,
): Promise<Rendering> {
  const { html, markdown } = await doTask('render', document, references, texts);
  return { content_html: html, content_markdown: markdown };
}

/** Renders an article's body as of now (contract.md R3). */
async function renderArticle(db: Queryable, article: Renderable): Promise<Rendering> {
  return renderBody(article.document, await readReferences(db, article));
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
