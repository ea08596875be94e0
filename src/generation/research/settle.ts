/** Makes what a settled run has read, noted and checked rows of its article. */
import { sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import type { ArticleId, JobId, SourceId, WorkspaceId } from '../../ids.ts';
import { forgetResearch, storeClaims, storeNotes, storeSource } from '../../research/store.ts';
import type { Part } from '../parts.ts';
import { verdictsOf } from './facts.ts';
import { isApprovedRun, takenNotes } from './notes.ts';
import { type ReadPageRow, readPages } from './rows.ts';

/** What a run has to hand over. Its pages are read before the transaction: they may be large. */
export interface FinishedResearch {
  readonly pages: readonly ReadPageRow[];
  readonly parts: readonly Part[];
}

/** Reads what a run has found, for `keepResearch`. */
export const finishedResearch = async (
  db: Parameters<typeof readPages>[0],
  jobId: JobId,
  parts: readonly Part[],
): Promise<FinishedResearch> => ({ pages: await readPages(db, jobId), parts });

/**
 * Replaces the sources, notes and claims of the locked article by those of its run (contract.md N28). An approved run keeps the
 * notes and sources of its outline, and adds what it read for its claims.
 */
export async function keepResearch(
  tx: Tx,
  of: { readonly workspaceId: WorkspaceId; readonly articleId: ArticleId; readonly jobId: JobId },
  { pages, parts }: FinishedResearch,
): Promise<void> {
  if (isApprovedRun(parts)) await forgetUncited(tx, of);
  else await forgetResearch(tx, of);
  const stored = new Map<SourceId, SourceId>();
  for (const page of pages) {
    const id = await storeSource(tx, of, page);
    if (id !== null) stored.set(page.id, id);
  }
  const idOf = (id: SourceId): SourceId | undefined => {
    // Evidence of an approved run may be a source that the article has already.
    const isOwn = pages.some((page) => page.id === id);
    return isOwn ? stored.get(id) : id;
  };
  if (!isApprovedRun(parts)) {
    const notes = takenNotes(parts).flatMap(({ sourceId, quote }) => {
      const id = idOf(sourceId);
      return id === undefined ? [] : [{ sourceId: id, quote }];
    });
    await storeNotes(tx, of, notes);
  }
  const claims = verdictsOf(parts).claims.map(({ evidence, ...claim }) => {
    const sourceId = evidence === null ? undefined : idOf(evidence.sourceId);
    return evidence === null || sourceId === undefined
      ? { ...claim, verdict: 'not_found' as const, evidence: null }
      : { ...claim, evidence: { sourceId, passage: evidence.passage } };
  });
  await storeClaims(tx, of, claims);
  await tx.updateTable('generation_pages').set({ text: null }).where('job_id', '=', of.jobId).execute();
}

/** Forgets sources that an earlier run of the article has read for its claims alone, to have room for those of this one. */
async function forgetUncited(
  tx: Tx,
  { workspaceId, articleId }: { readonly workspaceId: WorkspaceId; readonly articleId: ArticleId },
): Promise<void> {
  await sql`
    DELETE FROM article_sources AS source USING jobs
    WHERE source.workspace_id = ${workspaceId} AND source.article_id = ${articleId}
      AND jobs.id = source.job_id AND jobs.purpose = 'generate'
      AND NOT EXISTS (SELECT FROM article_notes AS note WHERE note.source_id = source.id)`.execute(tx);
}
