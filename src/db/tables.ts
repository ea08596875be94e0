import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { DocumentJson } from '../document/format/schema.ts';
import type { Proposal, Provenance, RefreshPlan, UnitKey } from '../document/refresh/types.ts';
import type { JobContext, Neighbours, TermPair } from '../document/translation/context.ts';
import type { FoundDefect, Outcome, StoredReport } from '../document/translation/report.ts';
import type { SegmentKind } from '../document/translation/segments.ts';
import type { Snapshot } from '../document/translation/source.ts';
import type {
  AiOperationId,
  ApiKeyId,
  ArticleId,
  AssetId,
  AuditEntryId,
  BrandVoiceId,
  BurstId,
  CategoryId,
  CategoryNameId,
  ContentTemplateId,
  DeliveryId,
  EndpointId,
  EventId,
  FanOutId,
  GlossaryTermId,
  HoldId,
  IdeaClusterId,
  JobId,
  LedgerEntryId,
  ProjectId,
  ProposalId,
  ReviewId,
  RevisionId,
  RoleId,
  TranslationGroupId,
  WorkspaceId,
} from '../ids.ts';
import type { AiOperationKind, Suggestions } from './suggestions.ts';

/** Read as a Date; written as one, or as an ISO text. */
type Timestamp = ColumnType<Date, Date | string, Date | string>;
type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
/** Filled by the database when not given. */
type CreatedAt = ColumnType<Date, Date | string | undefined, Date | string>;
type Json<Value> = ColumnType<Value, string, string>;
type NullableJson<Value> = ColumnType<Value | null, string | null | undefined, string | null>;
type Default<Value> = ColumnType<Value, Value | undefined, Value>;
type Nullable<Value> = ColumnType<Value | null, Value | null | undefined, Value | null>;

export const ARTICLE_STATUSES = [
  'DRAFT',
  'QUEUED',
  'PROCESSING',
  'NEEDS_REVIEW',
  'CHANGES_REQUESTED',
  'APPROVED',
  'PUBLISHED',
] as const;
export type ArticleStatus = (typeof ARTICLE_STATUSES)[number];

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

/** What a job is for, beside its kind: `translate` and `refresh` are translations, the others generations. */
export type JobPurpose = 'translate' | 'refresh' | 'generate' | 'outline';

/** What a hold pays for: a job by its purpose, `translation` being the name of `translate` since the first release. */
export const HOLD_PURPOSES = ['translation', 'refresh', 'generate', 'outline', 'ai_operation'] as const;
export type HoldPurpose = (typeof HOLD_PURPOSES)[number];

export const IMAGE_STYLES = [
  'photorealistic',
  'editorial',
  'minimalist-vector',
  '3d-render',
  'watercolor',
  'corporate-tech',
  'cinematic',
  'illustration',
] as const;
export type ImageStyle = (typeof IMAGE_STYLES)[number];

export const REVIEW_DECISIONS = ['approved', 'rejected', 'changes_requested'] as const;
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];

/** Who wrote what an article says. */
export const AUTHOR_KINDS = ['api_key', 'operator', 'job'] as const;
export type AuthorKind = (typeof AUTHOR_KINDS)[number];

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

/** An attempt that ended, as a delivery's row keeps it and its owner reads it. */
export interface LoggedAttempt {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly errorMessage: string | null;
  readonly responseBody: string | null;
}

/** What a model is told beside the texts of a job, but for the terms; `around` by batch. */
export interface StoredContext extends Omit<JobContext, 'terms'> {
  readonly around: readonly Neighbours[];
}
/** Who made what is remembered: people who approved it, or an engine. */
export type MemoryLayer = 'people' | 'machine';

/** What a refresh works with. */
export interface StoredRefresh {
  readonly plan: RefreshPlan;
  /** Unlike the job's, it stays when the source is deleted. */
  readonly source: ArticleId;
  /** True when the version was APPROVED or PUBLISHED already as it was asked for. */
  readonly released: boolean;
  /** True when blocks were named: they are translated anew, past the memory. Missing in jobs of an earlier release. */
  readonly anew?: boolean;
}

export interface Tables {
  workspaces: {
    id: WorkspaceId;
    name: string;
    ai_operations_limit: Default<number>;
    storage_bytes_limit: Default<number>;
    storage_bytes_used: Default<number>;
    created_at: CreatedAt;
    /** Set once it is deleted, while its rows are being removed. */
    deleted_at: Nullable<Date>;
  };
  roles: {
    id: RoleId;
    workspace_id: WorkspaceId;
    name: string;
    /** The name's comparison key; null in rows written by a release that did not know it. */
    name_key: Nullable<string>;
    permissions: string[];
    built_in: Default<boolean>;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  api_keys: {
    id: ApiKeyId;
    workspace_id: WorkspaceId;
    role_id: Nullable<RoleId>;
    label: string;
    prefix: string;
    key_hash: Buffer;
    created_at: CreatedAt;
    last_used_at: NullableTimestamp;
    expires_at: NullableTimestamp;
    revoked_at: NullableTimestamp;
  };
  audit_entries: {
    id: AuditEntryId;
    workspace_id: WorkspaceId;
    actor_kind: 'api_key' | 'operator' | 'system';
    actor_id: Nullable<string>;
    action: string;
    target_type: string;
    target_id: Nullable<string>;
    details: JSONColumnType<Record<string, unknown>, string | undefined, string>;
    request_id: Nullable<string>;
    created_at: CreatedAt;
  };
  projects: {
    id: ProjectId;
    workspace_id: WorkspaceId;
    name: string;
    languages: string[];
    primary_language: string;
    archived_at: NullableTimestamp;
    /** What the addresses of its articles are made of. */
    address_template: Nullable<string>;
    /** Styles that images of its generated articles have, whatever the generation asks for. */
    hero_image_style: Nullable<ImageStyle>;
    inline_image_style: Nullable<ImageStyle>;
    default_brand_voice_id: Nullable<BrandVoiceId>;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  brand_voices: {
    id: BrandVoiceId;
    workspace_id: WorkspaceId;
    name: string;
    name_key: string;
    instructions: string;
    /** True for one voice of a workspace at most. */
    is_default: Default<boolean>;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  content_templates: {
    id: ContentTemplateId;
    workspace_id: WorkspaceId;
    name: string;
    name_key: string;
    text: string;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  articles: {
    id: ArticleId;
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    title: string;
    slug: string;
    status: ArticleStatus;
    document: Json<DocumentJson>;
    content_html: Nullable<string>;
    content_markdown: Nullable<string>;
    rendered_by: Nullable<number>;
    meta_title: Nullable<string>;
    meta_description: Nullable<string>;
    target_keywords: Default<string[]>;
    secondary_keywords: Default<string[]>;
    primary_language: string;
    translation_group_id: TranslationGroupId;
    generation_config: NullableJson<Record<string, unknown>>;
    outline: NullableJson<Record<string, unknown>>;
    /** True when a person has changed the outline since a run made it. */
    outline_edited: Default<boolean>;
    /** Title and slug that were made from a topic: while the article has them, a generation may replace them. */
    made_title: Nullable<string>;
    made_slug: Nullable<string>;
    created_by: Nullable<string>;
    published_at: NullableTimestamp;
    brief_id: Nullable<string>;
    published_url: Nullable<string>;
    word_count: Nullable<number>;
    /** Who wrote what it says, and when they began to; null when that is not known. */
    author_kind: Nullable<AuthorKind>;
    author_id: Nullable<ApiKeyId | JobId>;
    author_since: NullableTimestamp;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  article_revisions: {
    id: Default<RevisionId>;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    title: string;
    document: Json<DocumentJson>;
    meta_title: Nullable<string>;
    meta_description: Nullable<string>;
    target_keywords: string[];
    secondary_keywords: string[];
    word_count: Nullable<number>;
    author_kind: Nullable<AuthorKind>;
    author_id: Nullable<ApiKeyId | JobId>;
    author_since: NullableTimestamp;
    /** When the next author replaced it. */
    created_at: Timestamp;
  };
  /** Kept by a trigger of `articles`. */
  article_links: {
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    article_id: ArticleId;
    target_id: ArticleId;
  };
  address_changes: {
    id: Generated<string>;
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    /** Null for all articles of the project. */
    target_id: Nullable<ArticleId>;
    request_id: Nullable<string>;
  };
  stale_renderings: {
    article_id: ArticleId;
    workspace_id: WorkspaceId;
    request_id: Nullable<string>;
    due_at: CreatedAt;
  };
  assets: {
    id: AssetId;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    role: 'hero' | 'inline';
    content_hash: string;
    media_type: string;
    byte_size: number;
    file_name: string;
    alt_text: Default<string>;
    created_at: CreatedAt;
  };
  blobs: {
    hash: string;
    size: number;
    unreferenced_since: NullableTimestamp;
  };
  categories: {
    id: CategoryId;
    workspace_id: WorkspaceId;
    primary_language: string;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  category_names: {
    id: CategoryNameId;
    workspace_id: WorkspaceId;
    category_id: CategoryId;
    language: string;
    name: string;
    name_key: string;
    slug: string;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  article_categories: {
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    category_id: CategoryId;
    position: number;
  };
  wallets: {
    workspace_id: WorkspaceId;
    balance: Default<number>;
    reserved: Default<number>;
  };
  holds: {
    id: HoldId;
    workspace_id: WorkspaceId;
    purpose: HoldPurpose;
    run_id: string;
    amount: number;
    status: Default<'open' | 'settled' | 'released'>;
    settled_amount: Nullable<number>;
    created_at: CreatedAt;
    ended_at: NullableTimestamp;
  };
  ledger_entries: {
    id: Generated<number>;
    entry_id: Default<LedgerEntryId>;
    workspace_id: WorkspaceId;
    kind: 'grant' | 'purchase' | 'settlement';
    amount: number;
    hold_id: Nullable<HoldId>;
    payment_event_id: Nullable<string>;
    created_at: CreatedAt;
  };
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
    created_at: CreatedAt;
    ended_at: NullableTimestamp;
  };
  translations: {
    job_id: JobId;
    workspace_id: WorkspaceId;
    source_article_id: Nullable<ArticleId>;
    source_language: string;
    target_language: string;
    provider: Nullable<string>;
    batch_count: Nullable<number>;
    /** Batches that an engine answered or is asked for; not one that it refused. */
    asked_batches: Generated<number[]>;
    /** Of a refresh: its plan, which has what is needed of the source. */
    snapshot: NullableJson<Snapshot | StoredRefresh>;
    /** Null until it is planned, and of jobs that a release before planned. */
    context: NullableJson<StoredContext>;
    /** Null until they are drawn, or the first batch goes without. */
    terms: NullableJson<readonly TermPair[]>;
    /** What became of its texts; null until the job has ended. */
    report: NullableJson<StoredReport>;
  };
  translation_segments: {
    job_id: JobId;
    key: string;
    batch: number;
    source_hash: string;
    source_text: string;
    target_text: Nullable<string>;
    /** Null in rows of a release that did not count them. */
    words: Nullable<number>;
    /** What the text is, and its place in reading order. Null in rows of a release that did not keep them. */
    kind: Nullable<SegmentKind>;
    position: Nullable<number>;
    /** The key of the equal text that is asked for in its place. */
    same_as: Nullable<string>;
    /** Where its translation was remembered from; null when an engine was asked. */
    from_memory: Nullable<MemoryLayer>;
    /** What it is remembered by; null in rows of a release that remembered nothing. */
    text_key: Nullable<string>;
    made_by: Nullable<string>;
    /** What became of it; null until it was asked for, and in rows of a release that did not tell. */
    outcome: Nullable<Outcome>;
    /** What was repaired, or is wrong with it. */
    defects: NullableJson<readonly FoundDefect[]>;
  };
  /** What is known of a version since it was translated. */
  article_provenance: {
    article_id: ArticleId;
    workspace_id: WorkspaceId;
    source_article_id: Nullable<ArticleId>;
    units: Json<Provenance>;
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
    workspace_id: WorkspaceId;
    /** The version that it was written into. */
    article_id: ArticleId;
    /** Stands for languages, kind and source text. */
    text_key: string;
    layer: MemoryLayer;
    /** Stands for engine, style and terms; empty for what people have approved. */
    made_by: string;
    target_text: string;
    written_at: CreatedAt;
    /** To the day. */
    used_at: CreatedAt;
  };
  /** Approved versions whose texts are in the memory, or being read into it. */
  remembered_versions: {
    article_id: ArticleId;
    workspace_id: WorkspaceId;
    /** `updated_at` of the version as it was read. */
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
    /** What `source_term` is compared by. */
    term_key: string;
    /** Null for a term that stays as it is. */
    target_term: Nullable<string>;
    case_sensitive: boolean;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  /** How a project speaks in a language. */
  translation_styles: {
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    language: string;
    formality: Nullable<'formal' | 'informal'>;
    instructions: Nullable<string>;
    updated_at: CreatedAt;
  };
  generations: {
    job_id: JobId;
    workspace_id: WorkspaceId;
    /** What the deployment could do, and what that costs, when the job was admitted. */
    features: Json<Record<string, boolean>>;
    price: Json<Record<string, number>>;
    writer: Nullable<string>;
    /** Null once the job was pruned, as is the rest. */
    config: NullableJson<Record<string, unknown>>;
    voice: Nullable<string>;
    template: Nullable<string>;
    /** The assembled body. */
    document: NullableJson<DocumentJson>;
    words: Nullable<number>;
    /** Why no text could be used, for people: it quotes headings, which no history may hold. */
    failure: Nullable<string>;
  };
  /** Part 0 is the outline, the others are sections in their order. */
  generation_parts: {
    job_id: JobId;
    part: number;
    /** A writer answered, or is asked; not one that refused. */
    asked: Default<boolean>;
    /** As planned until it is written. */
    words: number;
    /** What a writer was asked to correct. */
    repairs: Default<string[]>;
    content: NullableJson<Record<string, unknown>>;
  };
  unpaid_work: {
    job_id: JobId;
    workspace_id: WorkspaceId;
    words: number;
    created_at: CreatedAt;
  };
  events: {
    id: EventId;
    workspace_id: WorkspaceId;
    type: string;
    article_id: Nullable<string>;
    body: Buffer;
    request_id: Nullable<string>;
    created_at: CreatedAt;
  };
  webhook_endpoints: {
    id: EndpointId;
    workspace_id: WorkspaceId;
    url: string;
    secret: string;
    events: string[];
    description: Default<string>;
    active: Default<boolean>;
    deleted_at: NullableTimestamp;
    created_at: CreatedAt;
  };
  webhook_open: {
    id: DeliveryId;
    workspace_id: WorkspaceId;
    endpoint_id: EndpointId;
    event_id: EventId;
    event_created_at: Timestamp;
    event_type: string;
    status: Default<DeliveryStatus>;
    attempts: Default<number>;
    response_status: Nullable<number>;
    error_message: Nullable<string>;
    attempt_log: ColumnType<LoggedAttempt[], string | undefined, string>;
    due_at: CreatedAt;
    in_run: Default<boolean>;
    burst_id: Nullable<BurstId>;
    begun: Default<number>;
    begun_token: Nullable<string>;
    created_at: Timestamp;
  };
  webhook_bursts: {
    id: BurstId;
    started_at: CreatedAt;
  };
  webhook_log: {
    id: DeliveryId;
    workspace_id: WorkspaceId;
    endpoint_id: EndpointId;
    event_id: EventId;
    event_created_at: Timestamp;
    event_type: string;
    status: DeliveryStatus;
    attempts: number;
    response_status: Nullable<number>;
    error_message: Nullable<string>;
    attempt_log: Json<LoggedAttempt[]>;
    in_run: boolean;
    burst_id: Nullable<BurstId>;
    delivered_at: NullableTimestamp;
    ended_at: CreatedAt;
    created_at: Timestamp;
  };
  event_fanouts: {
    id: Default<FanOutId>;
    workspace_id: WorkspaceId;
    changed: string[];
    request_id: Nullable<string>;
    article_ids: ArticleId[];
    created_at: CreatedAt;
  };
  reviews: {
    id: ReviewId;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    decision: ReviewDecision;
    previous_status: ArticleStatus;
    comment: Default<string>;
    created_at: CreatedAt;
  };
  article_slug_redirects: {
    project_id: ProjectId;
    language: string;
    slug: string;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
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
