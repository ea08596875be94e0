import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Author } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { executePrepared } from '../db/prepared.ts';
import { parsePlaces } from '../document/render/places.ts';
import { RENDERER } from '../document/render/shared.ts';
import type { RenderedDocument } from '../document/tasks/stored.ts';
import type { ArticleChange } from '../events/catalog.ts';
import { recordChange } from '../events/record.ts';
import type { ArticleId, RevisionId } from '../ids.ts';
import { recordAddressChange } from '../projects/addresses.ts';
import { namedSlug, slugify } from '../slug.ts';
import { updatedEvents } from './events.ts';
import { lockAndChooseSlug } from './insert.ts';
import { storeLinks } from './links/store.ts';
import { ownedByJob, whereAllowed } from './lock.ts';
import { type ArticleRow, articleChanged, articleColumns, contentChanged } from './queries.ts';
import { endRedirect, keepRedirect } from './redirects.ts';
import { refuseHeroInBody } from './refuse-hero-in-body.ts';
import { OutdatedRendering, renderingColumns } from './rendering.ts';
import { replaceContent } from './revisions/replace-content.ts';

/** What a save changes; an omitted field stays as it is, null clears a meta field. */
export interface SavedChanges {
  readonly title?: string | undefined;
  readonly slug?: string | undefined;
  readonly body?: RenderedDocument | undefined;
  readonly metaTitle?: string | null | undefined;
  readonly metaDescription?: string | null | undefined;
  readonly targetKeywords?: readonly string[] | undefined;
  readonly secondaryKeywords?: readonly string[] | undefined;
  /** The restored revision: the replaced content is always stored as a revision then. */
  readonly restores?: RevisionId | undefined;
  /** True when this transaction changed the cover or an image of the body, which counts as a change of the content. */
  readonly imagesChanged?: boolean | undefined;
}

/**
 * Writes changes into an article that the caller has locked for an edit. Every save uses it. Expects the body rendered;
 * updates word count and slug, stores a revision of another author's content and an audit entry, and emits the changes of
 * a PUBLISHED article. Writes nothing when nothing changes.
 * @param because audit details besides the changed fields
 * @throws {ServiceError} CONFLICT `job_running`; INVALID_REQUEST for the hero in the body
 * @throws {OutdatedRendering}
 */
export async function saveArticle(
  tx: Tx,
  author: Author,
  before: ArticleRow,
  changes: SavedChanges,
  because: Readonly<Record<string, unknown>> = {},
): Promise<ArticleRow> {
  const { id: articleId } = before;
  const { body, restores } = changes;
  const isOutdated = before.rendered_by !== RENDERER;
  if (isOutdated && body === undefined) throw new OutdatedRendering(articleId);
  if (body !== undefined) await refuseHeroInBody(tx, articleId, body.stored);

  const wanted = {
    title: changes.title ?? before.title,
    slug: await slugFor(tx, before, changes),
    meta_title: changes.metaTitle === undefined ? before.meta_title : changes.metaTitle,
    meta_description:
      changes.metaDescription === undefined ? before.meta_description : changes.metaDescription,
    target_keywords: [...(changes.targetKeywords ?? before.target_keywords)],
    secondary_keywords: [...(changes.secondaryKeywords ?? before.secondary_keywords)],
  };
  const isSame = body === undefined || (await isStored(tx, articleId, body.stored.json));
  const document = isSame ? before.document : body.stored.json;
  const changed = changedFields(before, { ...wanted, document });
  const replaces = changed.some((field) => field !== 'slug');
  const isShownAnew = isOutdated && body?.rendered.html !== before.content_html;
  if ((changes.imagesChanged || isShownAnew) && !changed.includes('content')) changed.push('content');
  if (changed.length === 0) return before;

  const isRendered = body === undefined || (isSame && !isOutdated);
  const always = restores !== undefined;
  const onlyImages = !replaces && changes.imagesChanged === true;
  const update = replaces
    ? replaceContent(tx, articleId, author.actor, { always })
    : tx.updateTable('articles').where('articles.id', '=', articleId);
  const query = update
    .set({
      ...wanted,
      ...(isRendered ? {} : renderingColumns(body.rendered)),
      ...(isSame ? {} : { document, word_count: body.stored.words }),
      ...(onlyImages ? contentChanged : {}),
      ...articleChanged,
    })
    .where(whereAllowed('edit'))
    .returning(articleColumns);
  // A prepared statement's name must stand for one SQL text.
  const written = isRendered ? '' : isSame ? '_rendering' : '_body';
  const kind = `${replaces ? 'content' : onlyImages ? 'images' : 'slug'}${always ? '_always' : ''}${written}`;
  const { rows } = await executePrepared(tx, `save_article_${kind}`, query);
  const [after] = rows;
  if (after === undefined) throw ownedByJob();
  if (!isSame)
    await storeLinks(tx, author, articleId, parsePlaces(before.content_places), body.rendered.places);
  if (changed.includes('slug')) {
    await endRedirect(tx, after);
    if (before.status === 'PUBLISHED') {
      await keepRedirect(tx, before);
      if (before.published_url === null) await recordAddressChange(tx, author, before);
    }
  }
  const audit = {
    action: restores === undefined ? 'articles.updated' : 'articles.restored',
    targetType: 'article',
    targetId: articleId,
    details: { changed, ...(restores === undefined ? {} : { revisionId: restores }), ...because },
  };
  await recordChange(tx, author, audit, updatedEvents(after, changed, before.slug));
  return after;
}

/** True when the article has this body. Postgres compares, so that nothing is parsed here. */
async function isStored(tx: Tx, articleId: ArticleId, json: string): Promise<boolean> {
  const { same } = await tx
    .selectFrom('articles')
    .select(sql<boolean>`document = ${json}::jsonb`.as('same'))
    .where('id', '=', articleId)
    .executeTakeFirstOrThrow();
  return same;
}

/** The slug after the save: the given one, or one from the new title if the current one derives from the old title. */
async function slugFor(tx: Tx, before: ArticleRow, { slug, title }: SavedChanges): Promise<string> {
  if (slug !== undefined) return slug;
  if (title === undefined) return before.slug;
  const base = slugify(before.title, 'article');
  const wanted = slugify(title, 'article');
  if (wanted === base || !isSlugOf(before.slug, base)) return before.slug;
  // A slug that says something gives way to none that does not.
  if (namedSlug(title) === null && namedSlug(before.title) !== null) return before.slug;
  return lockAndChooseSlug(
    tx,
    { projectId: before.project_id, language: before.primary_language, except: before.id },
    wanted,
  );
}

/** Bases longer than this may have been cut to make room for a number. */
const UNCUT_BASE = 100;

/** True for the base itself, and for the base with a number. */
function isSlugOf(slug: string, base: string): boolean {
  if (slug === base) return true;
  const stem = /^(.+)-\d+$/.exec(slug)?.[1] ?? '';
  return stem === base || (stem.length > UNCUT_BASE && base.startsWith(stem));
}

type Compared = Pick<
  ArticleRow,
  'title' | 'document' | 'slug' | 'meta_title' | 'meta_description' | 'target_keywords' | 'secondary_keywords'
>;

const FIELDS = [
  ['title', 'title'],
  ['document', 'content'],
  ['slug', 'slug'],
  ['meta_title', 'metaTitle'],
  ['meta_description', 'metaDescription'],
  ['target_keywords', 'targetKeywords'],
  ['secondary_keywords', 'secondaryKeywords'],
] as const satisfies readonly (readonly [keyof Compared, ArticleChange])[];

const changedFields = (before: Compared, after: Compared): ArticleChange[] =>
  FIELDS.filter(([column]) => !isDeepStrictEqual(before[column], after[column])).map(([, name]) => name);
