import type { Generated } from 'kysely';
import type { DocumentJson } from '../../document/format/schema.ts';
import type { Places } from '../../document/render/places.ts';
import type {
  ApiKeyId,
  ArticleId,
  AssetId,
  CategoryId,
  CategoryNameId,
  JobId,
  ProjectId,
  ReviewId,
  RevisionId,
  TranslationGroupId,
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

export const REVIEW_DECISIONS = ['approved', 'rejected', 'changes_requested'] as const;
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];

/** Who wrote an article's content. */
export const AUTHOR_KINDS = ['api_key', 'operator', 'job'] as const;
export type AuthorKind = (typeof AUTHOR_KINDS)[number];

/** Articles and what belongs to them. */
export interface ContentTables {
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
    /** Where the body's links and images stand in both texts; null without any. */
    content_places: NullableJson<Places>;
    /** Octets of the document as text, HTML and Markdown; counted by Postgres. */
    bytes: Default<number>;
    /** The renderer that made the three above. */
    rendered_by: Nullable<number>;
    /** Grows with every change of what the response shows, but for addresses of links and images. */
    version: Default<number>;
    /** Grows with every change of title, document, meta texts, keywords and shown images: see `contentTag`. */
    content_version: Default<number>;
    /** Made by a translation: links lead to articles of its own language where there are some. */
    is_translation: Default<boolean>;
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
    /** Title and slug made from a topic or a source: while the article has them, a run may replace them. */
    made_title: Nullable<string>;
    made_slug: Nullable<string>;
    created_by: Nullable<string>;
    published_at: NullableTimestamp;
    brief_id: Nullable<string>;
    published_url: Nullable<string>;
    word_count: Nullable<number>;
    /** Author of the content, and since when; null when unknown. */
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
    /** Octets of the document as text. */
    bytes: Default<number>;
    /** When the next author replaced it. */
    created_at: Timestamp;
  };
  article_links: {
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    article_id: ArticleId;
    target_id: ArticleId;
    /** The article and the address that it led to when that was last reported; null where it led nowhere. */
    leads_to: Nullable<ArticleId>;
    address: Nullable<string>;
  };
  address_changes: {
    id: Generated<string>;
    workspace_id: WorkspaceId;
    project_id: ProjectId;
    /** Null for all articles of the project. */
    target_id: Nullable<ArticleId>;
    target_group_id: Nullable<TranslationGroupId>;
    request_id: Nullable<string>;
  };
  /** Articles whose links may lead elsewhere. */
  link_checks: {
    article_id: ArticleId;
    workspace_id: WorkspaceId;
    request_id: Nullable<string>;
  };
  assets: {
    id: AssetId;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    role: 'hero' | 'inline';
    content_hash: string;
    media_type: string;
    /** Of the image itself; `storedBytes` adds the two below. */
    byte_size: number;
    file_name: string;
    alt_text: Default<string>;
    /** Pixels; null for an SVG without a size, and for images stored before sizes were recorded. */
    width: Nullable<number>;
    height: Nullable<number>;
    /** A WebP of at most 1,200 pixels; null where the image itself serves. */
    preview_hash: Nullable<string>;
    /** A WebP of at most 320 pixels; null for an SVG. */
    thumbnail_hash: Nullable<string>;
    /** Of preview and thumbnail. */
    variant_bytes: Default<number>;
    /** What it was generated from; null for an upload. */
    prompt: Nullable<string>;
    created_at: CreatedAt;
  };
  /** What an image was before it was regenerated in place: its addresses go on serving for a while. */
  asset_former_blobs: {
    asset_id: AssetId;
    workspace_id: WorkspaceId;
    content_hash: string;
    media_type: string;
    replaced_at: CreatedAt;
  };
  blobs: {
    hash: string;
    size: number;
    unreferenced_since: NullableTimestamp;
    kept_until: NullableTimestamp;
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
  reviews: {
    id: ReviewId;
    workspace_id: WorkspaceId;
    article_id: ArticleId;
    decision: ReviewDecision;
    previous_status: ArticleStatus;
    comment: Default<string>;
    /** Tag of the content that the reviewer named; null when none was. */
    content_tag: Nullable<string>;
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
}
