/** What a run searches and reads, as rows: each is stored before it is requested (contract.md N21). */
import { type Selectable, sql } from 'kysely';
import type { Database, Queryable } from '../../db/database.ts';
import type { SearchPurpose, Tables } from '../../db/tables.ts';
import { type JobId, newId, type SourceId } from '../../ids.ts';
import { lockOpenJob } from '../../jobs/run-state.ts';
import type { Page, PageRefusal } from '../../research/reading/page.ts';

/** How often a search or a page is requested, over all attempts. */
export const MAX_TRIES = 3;

/** The searches and pages of one purpose of a job. */
export interface Gathered {
  readonly jobId: JobId;
  readonly purpose: SearchPurpose;
}

export type SearchRow = Omit<Selectable<Tables['generation_searches']>, 'job_id' | 'purpose'>;
export type PageRow = Omit<Selectable<Tables['generation_pages']>, 'job_id' | 'purpose' | 'text'>;

export const readSearches = (db: Queryable, { jobId, purpose }: Gathered): Promise<SearchRow[]> =>
  db
    .selectFrom('generation_searches')
    .select(['number', 'query', 'tries', 'found'])
    .where('job_id', '=', jobId)
    .where('purpose', '=', purpose)
    .orderBy('number')
    .execute();

/** The pages of a job, or of one purpose, without their texts; those for research first. */
export const readPageRows = (
  db: Queryable,
  { jobId, purpose }: { readonly jobId: JobId; readonly purpose?: SearchPurpose },
): Promise<PageRow[]> =>
  db
    .selectFrom('generation_pages')
    .select(['number', 'id', 'address', 'tries', 'refusal', 'url', 'title', 'site', 'published_at'])
    .select(['fetched_at', 'hash'])
    .where('job_id', '=', jobId)
    .$if(purpose !== undefined, (query) => query.where('purpose', '=', purpose as SearchPurpose))
    .orderBy(sql`purpose = 'claims'`)
    .orderBy('number')
    .execute();

/** Plans searches, unless any are. */
export async function planSearches(
  db: Database,
  { jobId, purpose }: Gathered,
  queries: readonly string[],
): Promise<void> {
  await sql`
    INSERT INTO generation_searches (job_id, purpose, number, query)
    SELECT job.id, ${purpose}, number, query FROM (${lockOpenJob(jobId)}) AS job,
      unnest(${[...queries]}::text[]) WITH ORDINALITY AS planned (query, number)
    WHERE NOT EXISTS (SELECT FROM generation_searches WHERE job_id = ${jobId} AND purpose = ${purpose})
    ON CONFLICT DO NOTHING`.execute(db);
}

/** Counts a try of a search. @returns false when it has responded, had enough tries, or the job has ended */
export const beginSearch = (db: Database, of: Gathered, number: number): Promise<boolean> =>
  begin(db, of, number, sql`generation_searches`, sql`found IS NULL`);

/** Stores what a search found. */
export async function endSearch(
  db: Database,
  { jobId, purpose }: Gathered,
  number: number,
  found: readonly string[],
): Promise<void> {
  await db
    .updateTable('generation_searches')
    .set({ found: [...found] })
    .where('job_id', '=', jobId)
    .where('purpose', '=', purpose)
    .where('number', '=', number)
    .where('found', 'is', null)
    .execute();
}

/** Plans pages behind those that are planned. */
export async function planPages(
  db: Database,
  { jobId, purpose }: Gathered,
  addresses: readonly string[],
  from: number,
): Promise<void> {
  await sql`
    INSERT INTO generation_pages (job_id, purpose, number, id, address)
    SELECT job.id, ${purpose}, ${from}::integer + number, page_id, address FROM (${lockOpenJob(jobId)}) AS job,
      unnest(${[...addresses]}::text[], ${addresses.map(() => newId<SourceId>())}::uuid[])
        WITH ORDINALITY AS planned (address, page_id, number)
    ON CONFLICT DO NOTHING`.execute(db);
}

/** Counts a try of a page, as `beginSearch`. */
export const beginPage = (db: Database, of: Gathered, number: number): Promise<boolean> =>
  begin(db, of, number, sql`generation_pages`, sql`text IS NULL AND refusal IS NULL`);

async function begin(
  db: Database,
  { jobId, purpose }: Gathered,
  number: number,
  table: ReturnType<typeof sql>,
  isOpen: ReturnType<typeof sql>,
): Promise<boolean> {
  const { rows } = await sql`
    WITH job AS (${lockOpenJob(jobId)})
    UPDATE ${table} AS own SET tries = tries + 1 FROM job
    WHERE own.job_id = job.id AND purpose = ${purpose} AND number = ${number}
      AND tries < ${MAX_TRIES} AND ${isOpen}
    RETURNING number`.execute(db);
  return rows.length > 0;
}

/** Stores a page as it was read. One whose address, after redirects, the run has read before is not used. */
export async function storePage(db: Database, of: Gathered, number: number, page: Page): Promise<void> {
  const { rows } = await sql`
    UPDATE generation_pages AS own SET url = ${page.url}, title = ${page.title}, site = ${page.site},
      published_at = ${page.publishedAt}, fetched_at = ${page.fetchedAt}, hash = ${page.hash}, text = ${page.text}
    WHERE job_id = ${of.jobId} AND purpose = ${of.purpose} AND number = ${number} AND text IS NULL AND refusal IS NULL
      AND NOT EXISTS (SELECT FROM generation_pages AS other WHERE other.job_id = own.job_id AND other.url = ${page.url})
    RETURNING number`.execute(db);
  if (rows.length === 0) await refusePage(db, of, number, 'read already');
}

/** Why a page is not used: what reading says, or that another address had led to it. */
export type NotUsed = PageRefusal | 'read already';

/** Stores why a page is not used. */
export async function refusePage(
  db: Database,
  { jobId, purpose }: Gathered,
  number: number,
  refusal: NotUsed,
): Promise<void> {
  await db
    .updateTable('generation_pages')
    .set({ refusal })
    .where('job_id', '=', jobId)
    .where('purpose', '=', purpose)
    .where('number', '=', number)
    .where('text', 'is', null)
    .where('refusal', 'is', null)
    .execute();
}

/** A page that was read. */
export interface ReadPageRow extends Page {
  /** Notes and verdicts name it by this. */
  readonly id: SourceId;
}

/** The pages that a job has read, in the order in which they were chosen; those for research first. */
export async function readPages(
  db: Queryable,
  jobId: JobId,
  purpose: SearchPurpose | null = null,
): Promise<ReadPageRow[]> {
  const rows = await db
    .selectFrom('generation_pages')
    .select(['id', 'url', 'title', 'site', 'published_at', 'fetched_at', 'hash', 'text'])
    .where('job_id', '=', jobId)
    .$if(purpose !== null, (query) => query.where('purpose', '=', purpose))
    .orderBy(sql`purpose = 'claims'`)
    .orderBy('number')
    .execute();
  return rows.flatMap(({ url, title, site, fetched_at, hash, text, published_at, id }) =>
    url === null || title === null || site === null || fetched_at === null || hash === null || text === null
      ? []
      : [{ id, url, title, site, publishedAt: published_at, fetchedAt: fetched_at, hash, text }],
  );
}
