import type { Generated } from 'kysely';
import type { ArticleId, ClaimId, JobId, NoteId, SourceId, WorkspaceId } from '../../ids.ts';
import type { Nullable, NullableTimestamp, Timestamp } from './columns.ts';

export const VERDICTS = ['supported', 'contradicted', 'not_found'] as const;
/** How a claim compares with the passage found for it. */
export type Verdict = (typeof VERDICTS)[number];

/** What an article was researched from; its rows go with it. */
export interface ResearchTables {
  article_sources: {
    id: SourceId;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    /** The run that read it. */
    job_id: JobId;
    /** From 1, in the order in which they were read. */
    position: number;
    /** Where the page was read, after redirects. Once in an article. */
    url: string;
    title: string;
    site: string;
    published_at: NullableTimestamp;
    fetched_at: Timestamp;
    /** SHA-256 of the text, in hexadecimal. */
    hash: string;
    /** The readable text, as quotes and passages refer to it. */
    text: string;
    /** Of the text, for the storage quota; 0 where it was stored before sources counted. */
    bytes: Generated<number>;
  };
  article_notes: {
    id: NoteId;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    source_id: SourceId;
    /** From 1, over all notes of the article. */
    position: number;
    /** Stands word for word in the source's text. */
    quote: string;
  };
  article_claims: {
    id: ClaimId;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    /** The run that checked it. */
    job_id: JobId;
    /** From 1, in the order of the text. */
    position: number;
    block_id: string;
    sentence: string;
    verdict: Verdict;
    /** Null together with the passage: nothing was found to compare it with. */
    source_id: Nullable<SourceId>;
    passage: Nullable<string>;
  };
}
