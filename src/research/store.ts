/** The rows of an article's research. */
import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import type { Verdict } from '../db/tables.ts';
import {
  type ArticleId,
  type ClaimId,
  type JobId,
  type NoteId,
  newId,
  newOrderedId,
  type SourceId,
  type WorkspaceId,
} from '../ids.ts';
import { MAX_CLAIMS, MAX_NOTES, MAX_SOURCES } from './limits.ts';
import type { Note, SourceText } from './notes/note.ts';
import type { Page } from './reading/page.ts';

/** The article whose research it is, and the run that does it. */
export interface ResearchOf {
  readonly workspaceId: WorkspaceId;
  readonly articleId: ArticleId;
  readonly jobId: JobId;
}

/**
 * Stores a page as a source of the article (contract.md N10). One that is there already, by its address, stays as it is. Its text counts
 * for the storage quota, and is stored beyond it: the run was admitted (contract.md N37).
 * @returns its id; null when the article has MAX_SOURCES
 */
export async function storeSource(db: Database | Tx, of: ResearchOf, page: Page): Promise<SourceId | null> {
  const ofArticle = db
    .selectFrom('article_sources')
    .where('workspace_id', '=', of.workspaceId)
    .where('article_id', '=', of.articleId);
  await db
    .insertInto('article_sources')
    .columns([
      'id',
      'workspace_id',
      'article_id',
      'job_id',
      'position',
      'url',
      'title',
      'site',
      'published_at',
      'fetched_at',
      'hash',
      'text',
      'bytes',
    ])
    .expression(
      ofArticle
        .select(({ fn }) => [
          sql<SourceId>`${newId<SourceId>()}::uuid`.as('id'),
          sql<WorkspaceId>`${of.workspaceId}::uuid`.as('workspace_id'),
          sql<ArticleId>`${of.articleId}::uuid`.as('article_id'),
          sql<JobId>`${of.jobId}::uuid`.as('job_id'),
          sql<number>`coalesce(${fn.max('position')}, 0) + 1`.as('position'),
          sql<string>`${page.url}::text`.as('url'),
          sql<string>`${page.title}::text`.as('title'),
          sql<string>`${page.site}::text`.as('site'),
          sql<Date | null>`${page.publishedAt}::timestamptz`.as('published_at'),
          sql<Date>`${page.fetchedAt}::timestamptz`.as('fetched_at'),
          sql<string>`${page.hash}::text`.as('hash'),
          sql<string>`${page.text}::text`.as('text'),
          sql<number>`octet_length(${page.text}::text)`.as('bytes'),
        ])
        .having(({ fn }) => fn.countAll(), '<', MAX_SOURCES),
    )
    .onConflict((conflict) => conflict.columns(['workspace_id', 'article_id', 'url']).doNothing())
    .execute();
  const row = await ofArticle.select('id').where('url', '=', page.url).executeTakeFirst();
  return row?.id ?? null;
}

/** Forgets what the article was researched from and checked against, as a run does that researches anew. */
export async function forgetResearch(
  tx: Tx,
  { workspaceId, articleId }: Omit<ResearchOf, 'jobId'>,
): Promise<void> {
  await tx
    .deleteFrom('article_sources')
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId)
    .execute();
  await tx
    .deleteFrom('article_claims')
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId)
    .execute();
}

/** Replaces the article's notes. Their sources are rows already. */
export async function storeNotes(
  tx: Tx,
  { workspaceId, articleId }: Omit<ResearchOf, 'jobId'>,
  notes: readonly Note[],
): Promise<void> {
  await tx
    .deleteFrom('article_notes')
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId)
    .execute();
  const rows = notes.slice(0, MAX_NOTES).map(({ sourceId, quote }, at) => ({
    id: newOrderedId<NoteId>(),
    workspace_id: workspaceId,
    article_id: articleId,
    source_id: sourceId,
    position: at + 1,
    quote,
  }));
  if (rows.length > 0) await tx.insertInto('article_notes').values(rows).execute();
}

/** A claim that was compared; source and passage are both null when nothing was found. */
export interface CheckedClaim {
  readonly blockId: string;
  /** As shown: without Markdown. */
  readonly sentence: string;
  readonly verdict: Verdict;
  readonly evidence: { readonly sourceId: SourceId; readonly passage: string } | null;
}

/** Replaces the article's claims, in the order of the text. */
export async function storeClaims(
  tx: Tx,
  { workspaceId, articleId, jobId }: ResearchOf,
  claims: readonly CheckedClaim[],
): Promise<void> {
  await tx
    .deleteFrom('article_claims')
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId)
    .execute();
  const rows = claims.slice(0, MAX_CLAIMS).map(({ blockId, sentence, verdict, evidence }, at) => ({
    id: newOrderedId<ClaimId>(),
    workspace_id: workspaceId,
    article_id: articleId,
    job_id: jobId,
    position: at + 1,
    block_id: blockId,
    sentence,
    verdict,
    source_id: evidence?.sourceId ?? null,
    passage: evidence?.passage ?? null,
  }));
  if (rows.length > 0) await tx.insertInto('article_claims').values(rows).execute();
}

/** A stored source with its text, as requests to models and comparisons need it. */
export interface StoredSource extends SourceText {
  /** Its number in the article, from 1. */
  readonly position: number;
  readonly url: string;
  readonly site: string;
}

/** The article's sources in the order of their numbers; at most MAX_SOURCES texts of at most MAX_TEXT. */
export const readSources = (
  db: Database | Tx,
  { workspaceId, articleId }: Omit<ResearchOf, 'jobId'>,
): Promise<StoredSource[]> =>
  db
    .selectFrom('article_sources')
    .select(['id', 'position', 'url', 'title', 'site', 'text'])
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId)
    .orderBy('position')
    .execute();
