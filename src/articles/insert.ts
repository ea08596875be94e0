import { type Insertable, sql } from 'kysely';
import type { Actor } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { uniqueViolation } from '../db/errors.ts';
import type { Tables } from '../db/tables.ts';
import { conflict, type ServiceError, unavailable } from '../errors.ts';
import type { ArticleId, ProjectId } from '../ids.ts';
import { findFreeSlug, slugify } from '../slug.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import { writtenBy } from './revisions/replace-content.ts';

interface SlugScope {
  readonly projectId: ProjectId;
  readonly language: string;
  /** The article that needs a slug: its own slugs count as free. */
  readonly except?: ArticleId;
}

/** The slugs that are in use or redirect in a project and language. */
async function takenSlugs(tx: Tx, scope: SlugScope, slugs: readonly string[]): Promise<Set<string>> {
  const { projectId, language, except } = scope;
  const among = sql<boolean>`slug = ANY (${[...slugs]}::text[])`;
  let used = tx
    .selectFrom('articles')
    .select('slug')
    .where('project_id', '=', projectId)
    .where('primary_language', '=', language)
    .where(among);
  let redirecting = tx
    .selectFrom('article_slug_redirects')
    .select('slug')
    .where('project_id', '=', projectId)
    .where('language', '=', language)
    .where(among);
  if (except !== undefined) {
    used = used.where('id', '!=', except);
    redirecting = redirecting.where('article_id', '!=', except);
  }
  const rows = await used.union(redirecting).execute();
  return new Set(rows.map((row) => row.slug));
}

/** The first free slug in the project and language: `base`, or `base` with a number. */
const chooseSlug = (tx: Tx, scope: SlugScope, base: string): Promise<string> =>
  findFreeSlug(base, (slugs) => takenSlugs(tx, scope, slugs));

/**
 * {@link chooseSlug} under a lock per project and language until the transaction ends. Only an insert that has not yet met
 * another one can still take the slug meanwhile.
 */
export async function lockAndChooseSlug(tx: Tx, scope: SlugScope, base: string): Promise<string> {
  const turn = `${scope.projectId} ${scope.language}`;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${turn}, 0))`.execute(tx);
  return chooseSlug(tx, scope, base);
}

/** Notes that the service has made an article's title and slug: a run may replace them while they stay as they are. */
export async function noteMade(tx: Tx, id: ArticleId): Promise<void> {
  await tx
    .updateTable('articles')
    .set((eb) => ({ made_title: eb.ref('title'), made_slug: eb.ref('slug') }))
    .where('id', '=', id)
    .execute();
}

const SLUG_ATTEMPTS = 5;

/** True when another article took the slug before the commit. */
export const isSlugTaken = (error: unknown): boolean => uniqueViolation(error) === 'articles_slug_key';

/**
 * Repeats work that chooses a slug when another article has taken it.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when that happened each time
 */
export async function retryingSlug<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; attempt <= SLUG_ATTEMPTS; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isSlugTaken(error)) throw error;
    }
  }
  throw unavailable('contention', 'Other articles keep taking the slug of this title. Try again shortly.');
}

/** 409 for a requested slug that is not free. */
export const slugTaken = (slug: string): ServiceError =>
  conflict(
    `Another article of the project has the slug ${JSON.stringify(slug)} in this language.`,
    'slug_taken',
  );

/**
 * Inserts an article with the given slug, else the first free one for `slugBase`, by default made from its title. Waits for a concurrent transaction that
 * takes the same slug, then tries the next number.
 * @param author the writer; omitted for an article that a job will fill
 * @throws {ServiceError} CONFLICT `slug_taken` for a given slug that is not free
 * @throws the unique violation of (translation group, language) as Postgres reports it
 */
export async function insertArticle(
  tx: Tx,
  {
    slug: given,
    slugBase,
    ...article
  }: Omit<Insertable<Tables['articles']>, 'slug'> & { slug?: string | undefined; slugBase?: string },
  author?: Actor,
): Promise<ArticleRow> {
  const scope = { projectId: article.project_id, language: article.primary_language };
  const base = slugBase ?? slugify(article.title, 'article');
  // The lock costs a round trip, so the first attempt is without it. From then on it is needed: of many articles with
  // one title each would send its document again for every other that comes first.
  for (let choose = chooseSlug; ; choose = lockAndChooseSlug) {
    const slug = given ?? (await choose(tx, scope, base));
    const row = await tx
      .insertInto('articles')
      .values({ ...article, slug, ...(author === undefined ? {} : writtenBy(author)) })
      .onConflict((on) => on.constraint('articles_slug_key').doNothing())
      .returning(articleColumns)
      .executeTakeFirst();
    if (row !== undefined) return row;
    if (given !== undefined) throw slugTaken(given);
  }
}
