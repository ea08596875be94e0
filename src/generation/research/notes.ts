/** The notes that a run writes from: those it takes, or those of the outline that it was approved with. */
import type { Queryable } from '../../db/database.ts';
import type { ArticleId, JobId, SourceId, WorkspaceId } from '../../ids.ts';
import type { Note } from '../../research/notes/note.ts';
import { ofKind, type Part } from '../parts.ts';
import type { BriefNote } from '../writing/brief.ts';
import type { CitedSource } from '../writing/citations.ts';
import { readPageRows } from './rows.ts';

/** A note, and where it is from. */
export interface SourcedNote extends CitedSource {
  readonly sourceId: SourceId;
  readonly quote: string;
  readonly publishedAt: Date | null;
}

/** The notes that a job has taken: its part as it is stored. */
export interface StoredNotes {
  readonly notes: readonly Note[];
}

/** The notes of a part; none until it is made, and without usable ones. */
export const takenNotes = (parts: readonly Part[]): readonly Note[] => {
  const [part] = ofKind(parts, 'notes');
  return ((part?.content ?? {}) as Partial<StoredNotes>).notes ?? [];
};

/** True of a run that starts from an approved outline. */
export const isApprovedRun = (parts: readonly Part[]): boolean => {
  const [outline] = ofKind(parts, 'outline');
  return outline !== undefined && outline.content !== null && !outline.asked;
};

/** The notes of a run, by their numbers from 1 (contract.md N23). */
export async function notesOfRun(
  db: Queryable,
  job: { readonly jobId: JobId; readonly workspaceId: WorkspaceId; readonly articleId: ArticleId },
  parts: readonly Part[],
): Promise<SourcedNote[]> {
  if (isApprovedRun(parts)) return notesOfArticle(db, job);
  const taken = takenNotes(parts);
  if (taken.length === 0) return [];
  const pages = await readPageRows(db, { jobId: job.jobId, purpose: 'research' });
  return taken.flatMap(({ sourceId, quote }) => {
    const page = pages.find(({ id }) => id === sourceId);
    return page === undefined || page.url === null || page.title === null || page.site === null
      ? []
      : [
          {
            sourceId,
            quote,
            url: page.url,
            title: page.title,
            site: page.site,
            publishedAt: page.published_at,
          },
        ];
  });
}

async function notesOfArticle(
  db: Queryable,
  { workspaceId, articleId }: { readonly workspaceId: WorkspaceId; readonly articleId: ArticleId },
): Promise<SourcedNote[]> {
  const rows = await db
    .selectFrom('article_notes as note')
    .innerJoin('article_sources as source', 'source.id', 'note.source_id')
    .select(['note.source_id', 'quote', 'url', 'title', 'site', 'published_at'])
    .where('note.workspace_id', '=', workspaceId)
    .where('note.article_id', '=', articleId)
    .orderBy('note.position')
    .execute();
  return rows.map(({ source_id, published_at, ...row }) => ({
    ...row,
    sourceId: source_id,
    publishedAt: published_at,
  }));
}

/** The note as the writer gets it. */
export const briefNote = ({ quote, title, site, publishedAt }: SourcedNote): BriefNote => ({
  quote,
  title,
  site,
  published: publishedAt?.toISOString().slice(0, 'yyyy-mm-dd'.length) ?? null,
});
