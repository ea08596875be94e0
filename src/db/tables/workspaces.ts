import type { Generated, JSONColumnType } from 'kysely';
import type {
  ApiKeyId,
  AuditEntryId,
  BrandVoiceId,
  ContentTemplateId,
  HoldId,
  LedgerEntryId,
  OperatorLogId,
  ProjectId,
  RoleId,
  WorkspaceId,
} from '../../ids.ts';
import type { CreatedAt, Default, Nullable, NullableTimestamp, Timestamp } from './columns.ts';
import type { IMAGE_STYLES } from './content.ts';

/** What a hold pays for: a job by its purpose (`translation` is the purpose `translate`), or an AI operation. */
export const HOLD_PURPOSES = [
  'translation',
  'refresh',
  'generate',
  'outline',
  'image',
  'ai_operation',
] as const;
export type HoldPurpose = (typeof HOLD_PURPOSES)[number];
export type ImageStyle = (typeof IMAGE_STYLES)[number];

/** `links`: numbers that lead to the source; `list`: numbers, and the sources at the end; `none`: neither. */
export const CITATIONS = ['links', 'list', 'none'] as const;
/** How generated articles cite their sources. */
export type Citations = (typeof CITATIONS)[number];

/** Workspaces, who may do what in them, and their credits. */
export interface WorkspaceTables {
  workspaces: {
    id: WorkspaceId;
    name: string;
    ai_operations_limit: Default<number>;
    storage_bytes_limit: Default<number>;
    storage_bytes_used: Default<number>;
    /** Requests a minute; null: as configured, 0: no limit. */
    requests_per_key: Nullable<number>;
    requests_per_workspace: Nullable<number>;
    /** What people have approved in one project serves all. */
    shared_memory: Default<boolean>;
    created_at: CreatedAt;
    /** Set while it is deleted: nothing of it is shown. */
    deleted_at: NullableTimestamp;
    /** Set once its rows are being removed: it cannot be restored any more. */
    emptying_since: NullableTimestamp;
    suspended_at: NullableTimestamp;
  };
  /** What a workspace holds is the sum of its rows: those who write take one that nobody else is writing. */
  workspace_usage: {
    id: Generated<string>;
    workspace_id: WorkspaceId;
    /** Set where the row counts against what a deleted project still has. */
    project_id: Nullable<ProjectId>;
    articles: number;
    /** Octets of articles, revisions and the memory of translations. */
    text_bytes: number;
  };
  roles: {
    id: RoleId;
    workspace_id: WorkspaceId;
    name: string;
    /** The name's comparison key. */
    name_key: string;
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
  /** One row: by what time the last run of prune went. */
  prune_clock: {
    singleton: Default<boolean>;
    believed: Timestamp;
    run_id: string;
  };
  /** What operators changed. No foreign key: it stays when a workspace goes. */
  operator_log: {
    id: OperatorLogId;
    operator: string;
    action: string;
    workspace_id: WorkspaceId;
    workspace_name: Nullable<string>;
    target_type: string;
    target_id: Nullable<string>;
    created_at: CreatedAt;
  };
  projects: {
    id: ProjectId;
    workspace_id: WorkspaceId;
    name: string;
    languages: string[];
    primary_language: string;
    archived_at: NullableTimestamp;
    /** Template of its articles' addresses. */
    address_template: Nullable<string>;
    /** Style of images in its generated articles, put before the generation's own. */
    hero_image_style: Nullable<ImageStyle>;
    inline_image_style: Nullable<ImageStyle>;
    default_brand_voice_id: Nullable<BrandVoiceId>;
    /** How its generated articles show what they are researched from. */
    citations: Default<Citations>;
    /** Set while it is deleted and being emptied: nothing of it is shown. */
    deleted_at: NullableTimestamp;
    /** Bytes of its images that were returned to the quota when it was deleted, less those removed since. */
    returned_bytes: Default<number>;
    created_at: CreatedAt;
    updated_at: CreatedAt;
  };
  brand_voices: {
    id: BrandVoiceId;
    workspace_id: WorkspaceId;
    name: string;
    name_key: string;
    instructions: string;
    /** True for at most one voice of a workspace. */
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
}
