import { assetPath } from '../blobs/asset.ts';
import type { Origin } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Queryable, Tx } from '../db/database.ts';
import type { Rendered } from '../document/render/document.ts';
import { RENDERER } from '../document/render/shared.ts';
import { splice } from '../document/render/splice.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId, AssetId, ProjectId } from '../ids.ts';
import { fillAddress } from '../projects/addresses.ts';
import { doSmallTask, doTask } from '../threads/pool.ts';
import { updatedEvents } from './events.ts';
import { type ArticleRow, articleColumns } from './queries.ts';

/** What rendering a body needs to know of its article. */
export interface Renderable {
  readonly id: ArticleId;
  readonly project_id: ProjectId;
  /** documentJson as text. */
  readonly document: string;
}

/** What the places of a rendering lead to. */
export interface References {
  /** Addresses of linked articles by id. */
  readonly links: ReadonlyMap<string, string>;
  /** Images by asset id. */
  readonly images: ReadonlyMap<string, { readonly url: string; readonly altText: string }>;
}

/** contentHtml and contentMarkdown, as columns. */
export interface Rendering {
  readonly content_html: string;
  readonly content_markdown: string;
  /** RENDERER, for a body that shows neither links nor images: another rendering by the same would be equal. */
  readonly rendered_by: number | null;
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
    .selectFrom('articles as target')
    .innerJoin('projects as project', 'project.id', 'target.project_id')
    .select([
      'target.id',
      'target.slug',
      'target.primary_language as language',
      'target.published_url as reported',
      'project.address_template as template',
    ])
    .where('project.id', '=', projectId)
    .where('target.id', 'in', articleIds)
    .where('target.status', '=', 'PUBLISHED')
    .execute();
  const addresses = new Map<string, string>();
  for (const { id, slug, language, reported, template } of rows) {
    const address = reported ?? (template === null ? null : fillAddress(template, { language, slug }));
    if (address !== null) addresses.set(id, address);
  }
  return addresses;
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

/** What a rendered body shows, as columns. */
export function toRendering(rendered: Rendered, { links, images }: References): Rendering {
  const { html, markdown } = splice(rendered, {
    link: (id) => {
      const url = links.get(id);
      return url === undefined ? null : { id, url };
    },
    asset: (id) => images.get(id) ?? null,
  });
  return {
    content_html: html,
    content_markdown: markdown,
    rendered_by: rendered.places === null ? RENDERER : null,
  };
}

/** Renders a stored body with what its links and images are. */
export const renderBody = async (document: string, references: References): Promise<Rendering> =>
  toRendering(await doTask('render', document), references);

/** The same without waiting for a thread; null for a body that needs one. */
export function renderSmallBody(document: string, references: References): Rendering | null {
  const rendered = doSmallTask('render', document);
  return rendered === undefined ? null : toRendering(rendered, references);
}

/** Whether the article shows just this already. */
export const isShown = (
  article: Pick<ArticleRow, 'content_html' | 'content_markdown'>,
  { content_html, content_markdown }: Rendering,
): boolean => content_html === article.content_html && content_markdown === article.content_markdown;

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
  origin: Origin,
  render: Renderer,
  articles: readonly ArticleRow[],
): Promise<void> {
  for (const { article, rendering } of await render(tx, articles)) {
    if (isShown(article, rendering)) continue;
    const stored = await tx
      .updateTable('articles')
      .set({ ...rendering, updated_at: clockTimestamp })
      .where('id', '=', article.id)
      .returning(articleColumns)
      .executeTakeFirstOrThrow();
    await recordEvents(tx, origin, updatedEvents(stored, ['content']));
  }
}
