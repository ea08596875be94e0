import type { ColumnType } from 'kysely';
import type { DocumentJson } from '../../document/format/schema.ts';
import type {
  AiOperationId,
  ArticleId,
  AssetId,
  IdeaClusterId,
  JobId,
  ProjectId,
  SourceId,
  WorkspaceId,
} from '../../ids.ts';
import type { AiOperationKind, Suggestions } from '../suggestions.ts';
import type { CreatedAt, Default, Json, Nullable, NullableJson, NullableTimestamp } from './columns.ts';
import type { ImageStyle } from './workspaces.ts';

export const JOB_STATUSES = [
  'QUEUED',
  'TRANSLATING',
  'VALIDATING',
  'RESEARCHING',
  'OUTLINING',
  'WRITING',
  'GENERATING_IMAGE_PROMPTS',
  'GENERATING_IMAGES',
  'PROCESSING_MEDIA',
  'FINALIZING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const JOB_STEPS = [
  'validate',
  'research',
  'outline',
  'write',
  'image-prompts',
  'images',
  'media-processing',
  'translate',
  'finalize',
] as const;
export type JobStep = (typeof JOB_STEPS)[number];

/** A job's purpose, finer than its kind: `translate` and `refresh` are translations, the others generations. */
export type JobPurpose = 'translate' | 'refresh' | 'generate' | 'outline' | 'image';

/** How a run ended whose work counts as unpaid. */
export type UnpaidReason = 'cancelled' | 'failed';

/** The parts of a generation, in the order in which a run makes them. */
export const PART_KINDS = [
  'questions',
  'notes',
  'outline',
  'plan',
  'section',
  'faq',
  'edits',
  'claims',
  'verdicts',
  'corrections',
  'lead',
  'imagePrompts',
] as const;
export type PartKind = (typeof PART_KINDS)[number];

/** What a run searches for: what to write from, or whether what it wrote is so. */
export const SEARCH_PURPOSES = ['research', 'claims'] as const;
export type SearchPurpose = (typeof SEARCH_PURPOSES)[number];

/** `failed`: the article does without it; the reason says why. */
export type ImageState = 'planned' | 'prompted' | 'drawn' | 'processed' | 'delivered' | 'failed';

/**
 * Why an image was not delivered: `no_model`, none draws here; `own_cover`, a person has set one; `image_limit`, the article
 * has too many; `no_prompt`, none could be used; `refused`, the model declines it; `busy` and `misconfigured`, it is away;
 * `unanswered`, no response came; `not_an_image`, what came is none; `too_large`, its bytes; `storage`, they could not be
 * stored or decoded.
 */
export const IMAGE_FAILURES = [
  'no_model',
  'own_cover',
  'image_limit',
  'no_prompt',
  'refused',
  'busy',
  'misconfigured',
  'unanswered',
  'not_an_image',
  'too_large',
  'storage',
] as const;
export type ImageFailure = (typeof IMAGE_FAILURES)[number];

/** A decoded image whose bytes are stored, as the columns of an asset have it. */
export interface StoredMedia {
  readonly contentHash: string;
  readonly mediaType: string;
  readonly byteSize: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly previewHash: string | null;
  readonly thumbnailHash: string | null;
  readonly variantBytes: number;
}

/** Paid work: jobs, generations and suggestions. */
export interface JobTables {
  jobs: {
    id: JobId;
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    article_id: ArticleId;
    kind: 'generation' | 'translation';
    purpose: JobPurpose;
    status: JobStatus;
    current_step: Nullable<JobStep>;
    progress: Default<number>;
    idempotency_key: string;
    estimated_credits: number;
    reserved_credits: number;
    consumed_credits: Default<number>;
    held_bytes: Default<number>;
    error_code: Nullable<'GENERATION_FAILED' | 'TRANSLATION_FAILED'>;
    error_message: Nullable<string>;
    workflow_id: string;
    request_id: Nullable<string>;
    /** What its run is a part of, whoever starts it. */
    traceparent: Nullable<string>;
    created_at: CreatedAt;
    ended_at: NullableTimestamp;
  };
  generations: {
    job_id: JobId;
    workspace_id: WorkspaceId;
    price: Json<Record<string, number>>;
    writer: Nullable<string>;
    /** Null once the job was pruned, as is the rest. */
    config: NullableJson<Record<string, unknown>>;
    voice: Nullable<string>;
    template: Nullable<string>;
    /** The assembled body. */
    document: NullableJson<DocumentJson>;
    /** Words of the body that are charged: code counts. */
    delivered_words: Nullable<number>;
    /** What the checks of the finished text found; null until it is put together, and once the job was pruned. */
    checks: NullableJson<Record<string, unknown>>;
    /** Articles that it may link to; null until validated. */
    linkable: NullableJson<readonly { readonly id: string; readonly title: string }[]>;
    /** The title and the keywords that a person gave the article; null without, and until validated. */
    own_title: Nullable<string>;
    own_keywords: Nullable<string[]>;
    /** Whether research has delivered. */
    researched: Default<boolean>;
    /** Why no text could be used, for people: it quotes headings, which no history may hold. */
    failure: Nullable<string>;
    /** Set when a run failed by its texts in a way that the parts before share: they are not taken over. */
    failure_cause: Nullable<'length' | 'language' | 'refusal'>;
    /** Takes no part over from an earlier run. */
    fresh: Default<boolean>;
  };
  /** What a run makes, in order. */
  generation_parts: {
    job_id: JobId;
    part: number;
    kind: PartKind;
    /** Written by a writer, or being written. */
    asked: Default<boolean>;
    /** Calls with a response: an attempt continues from those before it. */
    calls: Default<number>;
    /** Calls that began and have no response, those of lost workers included. */
    unanswered: Default<number>;
    /** As planned until it is written. */
    words: number;
    /** The defects that a writer had to correct. */
    repairs: Default<string[]>;
    /** What was corrected without a call, by kind. */
    mended: ColumnType<Record<string, number>, string | undefined, string>;
    /** A section that the article does without. */
    left_out: Default<boolean>;
    /** Null until it is written; empty once the job was pruned. */
    content: NullableJson<Record<string, unknown>>;
    /** The same as the editor's pass left it; null where that changed nothing. */
    revised: NullableJson<Record<string, unknown>>;
    /** Hash of all that it was made from; null until it is written, once the job was pruned, and when a later run paid for it. */
    key: Nullable<string>;
    /** Made by an earlier run that failed. */
    taken_over: Default<boolean>;
  };
  /** Searches of a run, each a row before it is made. */
  generation_searches: {
    job_id: JobId;
    purpose: SearchPurpose;
    /** From 1, the most important first. */
    number: number;
    query: string;
    /** How often it was made. */
    tries: Default<number>;
    /** Addresses, best first; null until it has responded. */
    found: Nullable<string[]>;
  };
  /** Pages that a run reads; what was read is a source of the article once the run is settled. */
  generation_pages: {
    job_id: JobId;
    purpose: SearchPurpose;
    /** From 1, in the order in which they were chosen. */
    number: number;
    /** Notes and verdicts name the page by it. */
    id: SourceId;
    /** As it was found. */
    address: string;
    /** How often it was requested. */
    tries: Default<number>;
    /** Why it is not used. */
    refusal: Nullable<string>;
    /** The page as it was read; null before, and of one that is not used. */
    url: Nullable<string>;
    title: Nullable<string>;
    site: Nullable<string>;
    published_at: NullableTimestamp;
    fetched_at: NullableTimestamp;
    hash: Nullable<string>;
    text: Nullable<string>;
  };
  /** Images that a job draws; those of a run are planned at its admission. */
  generation_images: {
    job_id: JobId;
    /** Its place among the job's images; the cover is 0. */
    number: number;
    role: 'hero' | 'inline';
    /** The id of the asset that it will be. */
    asset_id: AssetId;
    /** The hash of the image that it takes the place of, as that was at admission; null for an image of a run. */
    replaces: Nullable<string>;
    quality: 'standard' | 'hd';
    /** Null until the run begins. */
    style: Nullable<ImageStyle>;
    /** The id of the section that it stands behind; null of a cover, and until it has a prompt. */
    section: Nullable<string>;
    /** Null until it has one, and once the job was pruned, as are the texts below. */
    prompt: Nullable<string>;
    alt_text: Nullable<string>;
    caption: Nullable<string>;
    state: Default<ImageState>;
    /** Why it is not there, or was not at the last attempt. */
    reason: Nullable<ImageFailure>;
    /** A model is drawing it, or has. */
    asked: Default<boolean>;
    /** Calls with a response. */
    calls: Default<number>;
    /** Calls that began and have no response, those of lost workers included. */
    unanswered: Default<number>;
    /** What the model returned, from `drawn` on. */
    drawn_hash: Nullable<string>;
    /** What will be the asset, from `processed` on. */
    processed: NullableJson<StoredMedia>;
  };
  /** Stored bytes that an open job names until an asset does. */
  staged_blobs: {
    hash: string;
    job_id: JobId;
  };
  /** Calls of writers, and of models that draw, each from before it is made; they outlive their articles. */
  generation_calls: {
    id: Default<string>;
    workspace_id: WorkspaceId;
    job_id: JobId;
    /** What it was made for: one of the two is not null. */
    part: Nullable<number>;
    image: Nullable<number>;
    model: string;
    /** Null while it is under way, and of a lost worker's call. */
    outcome: Nullable<'answered' | 'unanswered' | 'rejected'>;
    input_tokens: Nullable<number>;
    cached_tokens: Nullable<number>;
    output_tokens: Nullable<number>;
    reasoning_tokens: Nullable<number>;
    created_at: CreatedAt;
    ended_at: NullableTimestamp;
  };
  unpaid_work: {
    job_id: JobId;
    workspace_id: WorkspaceId;
    reason: Default<UnpaidReason>;
    /** Without those that a later run has paid for. */
    words: number;
    created_at: CreatedAt;
  };
  ai_operations: {
    id: AiOperationId;
    workspace_id: WorkspaceId;
    kind: AiOperationKind;
    target_id: string;
    languages: Default<string[]>;
    credits: number;
    status: Default<'open' | 'settled' | 'empty' | 'failed'>;
    quota_month: string;
    asked_at: NullableTimestamp;
    result: NullableJson<Suggestions>;
    workflow_id: string;
    request_id: Nullable<string>;
    created_at: CreatedAt;
    ended_at: NullableTimestamp;
  };
  ai_operation_usage: {
    workspace_id: WorkspaceId;
    month: string;
    used: number;
  };
  idea_clusters: {
    id: IdeaClusterId;
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    title: string;
    keywords: Default<string[]>;
    created_at: CreatedAt;
  };
}
