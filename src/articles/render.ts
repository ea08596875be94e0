import { sql } from 'kysely';
import { assetPath } from '../blobs/asset.ts';
import type { VerbContext } from '../context.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { doSmallTask, doTask } from '../document/threads/pool.ts';
import type { Parsed, References, Rendered } from '../document/threads/tasks.ts';
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

export const toRendering = ({ html, markdown }: Rendered): Rendering => ({
  content_html: html,
  content_markdown: markdown,
});

/** Renders a body with what its links and images are; `texts` are its parsed texts, when there are some. */
export async function renderBody(
  document: string,
  references: References,
  texts?: Parsed,
): Promise<Rendering> {
  return toRendering(await doTask('render', document, references, texts));
}

/** The same without waiting for a thread; null for a body that needs one. */
export function renderSmallBody(document: string, references: References): Rendering | null {
  const rendered = doSmallTask('render', document, references);
  return rendered === undefined ? null : toRendering(rendered);
}

/** Renders bodies as of now (contract.md R3) inside the transaction that `withRenderings` gives it to. */
export type Renderer = <const Articles extends readonly Renderable[]>(
  tx: Tx,
  articles: Articles,
) => Promise<{ [Index in keyof Articles]: { article: Articles[Index]; rendering: Rendering } }>;

/**
 * Renders articles again after an image of theirs changed, or an article they link to got or lost its address. Those
 * that came out differently are stored, with a new updatedAt, and emit article.updated where they are PUBLISHED.
 */
export async function renderAgain(
  tx: Tx,
  context: Pick<VerbContext, 'actor' | 'requestId'>,
  render: Renderer,
  articles: readonly ArticleRow[],
): Promise<void> {
  for (const { article, rendering } of await render(tx, articles)) {
    const isSame =
      rendering.content_html === article.content_html &&
      rendering.content_markdown === article.content_markdown;
    if (isSame) continue;
    const stored = await tx
      .updateTable('articles')
      .set({ ...rendering, updated_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', article.id)
      .returning(articleColumns)
      .executeTakeFirstOrThrow();
    await recordEvents(tx, context, updatedEvents(stored, ['content']));
  }
}

/**
 * Renders the articles that link to one whose address appeared or went away. An article without an address
 * resolves no link, so there is nothing to render then.
 */
export async function renderLinkers(
  tx: Tx,
  context: Pick<VerbContext, 'actor' | 'requestId'>,
  render: Renderer,
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
  await renderAgain(tx, context, render, linkers);
}
