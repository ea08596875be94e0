import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Author } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { executePrepared } from '../db/prepared.ts';
import type { StoredDocument } from '../document/tasks/stored.ts';
import type { ArticleChange } from '../events/catalog.ts';
import { recordChange } from '../events/record.ts';
import type { ArticleId, RevisionId } from '../ids.ts';
import { recordAddressChange } from '../projects/addresses.ts';
import { slugify } from '../slug.ts';
import { refuseHeroInBody } from './content.ts';
import { updatedEvents } from './events.ts';
import { lockAndChooseSlug } from './insert.ts';
import { ownedByJob, whereAllowed } from './lock.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import { endRedirect, keepRedirect } from './redirects.ts';
import { isShown, type Renderer } from './render.ts';
import { replaceContent } from './revisions/keep.ts';

/** What a save changes; an omitted field stays as it is, null clears a meta field. */
export interface SavedChanges {
  readonly title?: string | undefined;
  readonly slug?: string | undefined;
  readonly body?: StoredDocument | undefined;
  readonly metaTitle?: string | null | undefined;
  readonly metaDescription?: string | null | undefined;
  readonly targetKeywords?: readonly string[] | undefined;
  readonly secondaryKeywords?: readonly string[] | undefined;
  /** The revision that all this comes from: what it replaces is kept, however young that is. */
  readonly restores?: RevisionId | undefined;
  /** Images that were changed in this transaction: a change of the content, those in the body if it shows it. */
  readonly imagesChanged?: 'cover' | 'inline' | undefined;
}

/**
 * Writes changes into an article that the caller has locked for an edit: every save, by whomever, is this one. The body
 * is rendered, words and slug follow, what another author wrote is kept as a revision, the log gets an entry, and a
 * PUBLISHED article tells what changed. What changes nothing writes nothing.
 * @param because what the log says besides the changed fields
 * @throws {ServiceError} CONFLICT `job_running`; INVALID_REQUEST for the hero in the body
 */
export async function saveArticle(
  tx: Tx,
  author: Author,
  render: Renderer,
  before: ArticleRow,
  changes: SavedChanges,
  because: Readonly<Record<string, unknown>> = {},
): Promise<ArticleRow> {
  const { id: articleId } = before;
  const { body, restores } = changes;
  if (body !== undefined) await refuseHeroInBody(tx, articleId, body);
  const [{ rendering }] = await render(tx, [{ ...before, document: body?.json ?? before.document }]);

  const wanted = {
    title: changes.title ?? before.title,
    slug: await slugFor(tx, before, changes),
    meta_title: changes.metaTitle === undefined ? before.meta_title : changes.metaTitle,
    meta_description:
      changes.metaDescription === undefined ? before.meta_description : changes.metaDescription,
    target_keywords: [...(changes.targetKeywords ?? before.target_keywords)],
    secondary_keywords: [...(changes.secondaryKeywords ?? before.secondary_keywords)],
  };
  const isSame = body === undefined || (await isStored(tx, articleId, body.json));
  const changed = changedFields(before, { ...wanted, document: isSame ? before.document : body.json });
  const isRendered = isShown(before, rendering);
  const replaces = changed.some((field) => field !== 'slug');
  const isImageShown =
    changes.imagesChanged === 'cover' || (changes.imagesChanged === 'inline' && !isRendered);
  if (isImageShown && !changed.includes('content')) changed.push('content');
  if (changed.length === 0 && isRendered) return before;

  const always = restores !== undefined;
  const update = replaces
    ? replaceContent(tx, articleId, author.actor, { always })
    : tx.updateTable('articles').where('articles.id', '=', articleId);
  const query = update
    .set({
      ...wanted,
      ...rendering,
      ...(isSame ? {} : { document: body.json, word_count: body.words }),
      updated_at: clockTimestamp,
    })
    .where(whereAllowed('edit'))
    .returning(articleColumns);
  // One name for each text that the statement can have.
  const kind = `${replaces ? 'content' : 'slug'}${always ? '_always' : ''}${isSame ? '' : '_body'}`;
  const { rows } = await executePrepared(tx, `save_article_${kind}`, query);
  const [after] = rows;
  if (after === undefined) throw ownedByJob();
  if (changed.includes('slug')) {
    await endRedirect(tx, after);
    if (before.status === 'PUBLISHED') {
      await keepRedirect(tx, before);
      await recordAddressChange(tx, author, { projectId: before.project_id, targetId: articleId });
    }
  }
  const audit = {
    action: restores === undefined ? 'articles.updated' : 'articles.restored',
    targetType: 'article',
    targetId: articleId,
    details: { changed, ...(restores === undefined ? {} : { revisionId: restores }), ...because },
  };
  // Its links may lead elsewhere by now, and this save was there before the step that renders them again.
  const isShownAnew = !isRendered && !changed.includes('content');
  const told = isShownAnew ? [...changed, 'content' as const] : changed;
  await recordChange(tx, author, audit, updatedEvents(after, told, before.slug));
  return after;
}

/** True when the article has this very body. Postgres compares, so that nothing is parsed here. */
async function isStored(tx: Tx, articleId: ArticleId, json: string): Promise<boolean> {
  const { same } = await tx
    .selectFrom('articles')
    .select(sql<boolean>`document = ${json}::jsonb`.as('same'))
    .where('id', '=', articleId)
    .executeTakeFirstOrThrow();
  return same;
}

/** The slug after the save: as given, or derived from the new title when the present one derives from the old title. */
async function slugFor(tx: Tx, before: ArticleRow, { slug, title }: SavedChanges): Promise<string> {
  if (slug !== undefined) return slug;
  if (title === undefined) return before.slug;
  const base = slugify(before.title, 'article');
  if (slugify(title, 'article') === base || !isSlugOf(before.slug, base)) return before.slug;
  return lockAndChooseSlug(
    tx,
    { projectId: before.project_id, language: before.primary_language, except: before.id },
    title,
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
