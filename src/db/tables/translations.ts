import type { Generated } from 'kysely';
import type {
  Proposal,
  Provenance,
  RefreshPlan,
  StateCounts,
  UnitKey,
  UnitSources,
} from '../../document/refresh/types.ts';
import type { InVersion, JobContext, Neighbours, Placeholders } from '../../document/translation/context.ts';
import type { FoundDefect, Outcome, StoredReport } from '../../document/translation/report.ts';
import type { SegmentKind } from '../../document/translation/segments.ts';
import type { StyleSheet } from '../../document/translation/style-sheet.ts';
import type {
  ArticleId,
  GlossaryTermId,
  JobId,
  MemoryEntryId,
  ProjectId,
  ProposalId,
  WorkspaceId,
} from '../../ids.ts';
import type {
  CreatedAt,
  Default,
  Json,
  Nullable,
  NullableJson,
  NullableTimestamp,
  Timestamp,
} from './columns.ts';
/** Prompt context besides a job's texts; `sheet` as it was when the job was planned, `around` by batch. */
export interface StoredContext extends JobContext {
  readonly around: readonly Neighbours[];
  /** What the empty tags of each batch stand for, by segment key. */
  readonly placeholders: readonly Readonly<Record<string, Placeholders>>[];
}

/** The source of a remembered translation: people who approved it, or an engine. */
export type MemoryLayer = 'people' | 'machine';

/** Working data of a translation or refresh. */
export interface StoredPlan {
  readonly plan: RefreshPlan;
  /** Priced words of a whole translation. */
  readonly words: number;
  /** What the changed units were translated from, as far as known. */
  readonly oldSources: UnitSources;
  /** Unlike the job's, it stays when the source is deleted. */
  readonly source: ArticleId;
  /** True when the version was APPROVED or PUBLISHED at the request. */
  readonly released: boolean;
  /** True when blocks were named: they bypass the memory. */
  readonly anew: boolean;
}

/** Translations, what they are checked against and remembered by, and their settings. */
export interface TranslationTables {
  translations: {
    job_id: JobId;
    workspace_id: WorkspaceId;
    source_article_id: Nullable<ArticleId>;
    source_language: string;
    target_language: string;
    provider: Nullable<string>;
    batch_count: Nullable<number>;
    /** Batches sent to an engine, not counting those it refused. */
    asked_batches: Generated<number[]>;
    /** Its plan, with what it needs of the source. */
    snapshot: NullableJson<StoredPlan>;
    /** Null until it is planned. */
    context: NullableJson<StoredContext>;
    /** The style sheet that its texts go by; null until drawn, or until the first batch goes without: JSON's null then. */
    sheet: NullableJson<StyleSheet | null>;
    /** The outcome of its texts; null until the job has ended. */
    report: NullableJson<StoredReport>;
  };
  translation_segments: {
    job_id: JobId;
    key: string;
    batch: number;
    source_hash: string;
    source_text: string;
    target_text: Nullable<string>;
    words: number;
    kind: SegmentKind;
    /** Its place in reading order. */
    position: number;
    /** The key of the equal text that is translated in its place. */
    same_as: Nullable<string>;
    /** The layer of the memory that it came from; null when an engine translated it. */
    from_memory: Nullable<MemoryLayer>;
    /** True once a later run that reused it was charged. */
    paid: Default<boolean>;
    /** Its key in the memory. */
    text_key: string;
    made_by: string;
    /** What the version has in its place, for the engine; null for none. */
    in_version: NullableJson<InVersion>;
    /** Null until it was sent. */
    outcome: Nullable<Outcome>;
    /** What was repaired, or is wrong with it. */
    defects: NullableJson<readonly FoundDefect[]>;
  };
  /** A version's style sheet. */
  article_style_sheets: {
    article_id: ArticleId;
    workspace_id: WorkspaceId;
    sheet: Json<StyleSheet>;
    updated_at: CreatedAt;
  };
  /** The state of a version at its last translation. */
  article_provenance: {
    article_id: ArticleId;
    workspace_id: WorkspaceId;
    source_article_id: Nullable<ArticleId>;
    units: Json<Provenance>;
    /** What each unit was translated from. */
    sources: Json<UnitSources>;
    /** The octets of `sources`; 0 when it is empty. */
    bytes: Generated<number>;
  };
  /** Counts of a version's units, and the tag of what was compared for them. */
  version_states: {
    article_id: ArticleId;
    workspace_id: WorkspaceId;
    tag: string;
    states: Json<StateCounts>;
  };
  proposals: {
    id: ProposalId;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    job_id: JobId;
    source_article_id: ArticleId;
    unit: UnitKey;
    proposal: Json<Proposal>;
    created_at: CreatedAt;
  };
  translation_memory: {
    id: Default<MemoryEntryId>;
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    /** The version that it was written into. */
    article_id: ArticleId;
    source_language: string;
    target_language: string;
    kind: SegmentKind;
    /** Hash of languages, kind and source text. */
    text_key: string;
    layer: MemoryLayer;
    /** Hashes of engine, style and terms, and of the style sheet's voice; empty for what people have approved. */
    made_by: string;
    /** In protected form, like the target text; both are empty once it was deleted. */
    source_text: string;
    target_text: string;
    /** Octets of both; counted by Postgres. */
    bytes: Generated<number>;
    /** When people approved it, an engine made it, or it was deleted. */
    written_at: CreatedAt;
    /** To the day; null once it was deleted. */
    used_at: NullableTimestamp;
    /** Of a deleted entry: the SHA-256 of its text, which stays away from this version. */
    deleted_hash: Nullable<Buffer>;
  };
  /** Approved versions whose texts are in the memory, or being added. */
  remembered_versions: {
    article_id: ArticleId;
    workspace_id: WorkspaceId;
    /** `updated_at` of the version when it was read. */
    read_of: NullableTimestamp;
    claimed_at: Timestamp;
  };
  glossary_terms: {
    id: GlossaryTermId;
    workspace_id: WorkspaceId;
    source_language: string;
    /** Null for all languages. */
    target_language: Nullable<string>;
    source_term: string;
    /** Comparison key of `source_term`. */
    term_key: string;
    /** Null for a term that stays as it is. */
    target_term: Nullable<string>;
    case_sensitive: boolean;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  /** A project's style in a language. */
  translation_styles: {
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    language: string;
    formality: Nullable<'formal' | 'informal'>;
    instructions: Nullable<string>;
    updated_at: CreatedAt;
  };
}
