import { type RawBuilder, type Selectable, sql } from 'kysely';
import { type ArticleRow, articleColumns } from '../articles/queries.ts';
import { toRevisionSummary } from '../articles/revisions/read.ts';
import { showArticle } from '../articles/show.ts';
import { type AssetRow, toAsset } from '../assets/schemas.ts';
import { toEntry } from '../audit/list.ts';
import type { Tx } from '../db/database.ts';
import { isoText } from '../db/iso-text.ts';
import { inLivingProject } from '../db/living-projects.ts';
import type { Tables } from '../db/tables.ts';
import { VOICES } from '../guidance/brand-voices/kind.ts';
import { TEMPLATES } from '../guidance/content-templates/kind.ts';
import { toTerm } from '../guidance/glossary/schemas.ts';
import { toStyle } from '../guidance/styles/schemas.ts';
import type { WorkspaceId } from '../ids.ts';
import { toJob } from '../jobs/queries.ts';
import { JsonText } from '../json-text.ts';
import { toProject } from '../projects/schemas.ts';
import { toReview } from '../reviews/schemas.ts';
import { asRow } from './rows.ts';

/** What an export writes as one file of JSON lines. */
export interface Kind {
  /** The file's name, without its ending. */
  readonly name: string;
  /** The tables whose rows it has. */
  readonly tables: readonly string[];
  /** SQL: all rows of the workspace. */
  readonly rows: (workspaceId: WorkspaceId) => RawBuilder<unknown>;
  /** A row's line: in the shape of the API where it has one, else by its columns' names. */
  readonly shape: (row: never, tx: Tx) => unknown;
  /** Rows with large documents are read a few at a time. */
  readonly large?: true;
}

type StyleRow = Selectable<Tables['translation_styles']>;
type MemoryRow = Selectable<Tables['translation_memory']>;

/** SQL: the article's project is not deleted. */
const ofLivingArticle = (workspaceId: WorkspaceId) => sql`article_id NOT IN (
  SELECT gone.id FROM articles AS gone WHERE gone.workspace_id = ${workspaceId}
    AND NOT ${inLivingProject(workspaceId, 'gone.project_id')})`;
const ALL = () => sql`true`;

/** A table of the workspace, each row by its columns' names unless there is a shape. */
const table = (
  name: string,
  from: string,
  where: (workspaceId: WorkspaceId) => RawBuilder<unknown> = ALL,
  shape: Kind['shape'] = asRow,
): Kind => ({
  name,
  tables: [from],
  rows: (workspaceId) =>
    sql`SELECT * FROM ${sql.table(from)} WHERE workspace_id = ${workspaceId} AND ${where(workspaceId)}`,
  shape,
});

/** A table whose rows belong to a job. */
const ofJob = (name: string, from: string): Kind => ({
  name,
  tables: [from],
  rows: (workspaceId) => sql`
    SELECT item.* FROM ${sql.table(from)} AS item JOIN jobs ON jobs.id = item.job_id
    WHERE jobs.workspace_id = ${workspaceId} AND ${inLivingProject(workspaceId, 'jobs.project_id')}`,
  shape: asRow,
});

/** Chosen columns of a table: those that are left out are secrets. */
const columns = (name: string, from: string, chosen: readonly string[]): Kind => ({
  ...table(name, from),
  rows: (workspaceId) =>
    sql`SELECT ${sql.join(chosen.map((column) => sql.ref(column)))} FROM ${sql.table(from)}
      WHERE workspace_id = ${workspaceId}`,
});

/** Everything that a workspace has, in the order of an export (contract.md L14). */
export const KINDS: readonly Kind[] = [
  {
    name: 'workspace',
    tables: ['workspaces', 'wallets'],
    rows: (workspaceId) => sql`
      SELECT id, name, shared_memory, ai_operations_limit, storage_bytes_limit, storage_bytes_used, created_at, suspended_at,
        balance, reserved FROM workspaces JOIN wallets ON workspace_id = id WHERE id = ${workspaceId}`,
    shape: asRow,
  },
  columns('roles', 'roles', ['id', 'name', 'permissions', 'built_in', 'created_at', 'updated_at']),
  columns('api-keys', 'api_keys', [
    ...['id', 'label', 'prefix', 'role_id', 'created_at', 'last_used_at', 'expires_at', 'revoked_at'],
  ]),
  table('audit-entries', 'audit_entries', ALL, toEntry),
  {
    name: 'ledger-entries',
    tables: ['ledger_entries'],
    rows: (workspaceId) => sql`
      SELECT entry_id AS id, kind, entry.amount, payment_event_id, purpose, run_id, entry.created_at
      FROM ledger_entries AS entry LEFT JOIN holds ON holds.id = hold_id WHERE entry.workspace_id = ${workspaceId}`,
    shape: asRow,
  },
  table('holds', 'holds'),
  table('projects', 'projects', () => sql`deleted_at IS NULL`, toProject),
  table('brand-voices', 'brand_voices', ALL, VOICES.toPreset),
  table('content-templates', 'content_templates', ALL, TEMPLATES.toPreset),
  table('glossary-terms', 'glossary_terms', ALL, toTerm),
  table('translation-styles', 'translation_styles', inLivingProject, (row: StyleRow) => ({
    projectId: row.project_id,
    ...toStyle({
      language: row.language,
      formality: row.formality,
      instructions: row.instructions,
      updated_at: row.updated_at,
    }),
  })),
  {
    name: 'categories',
    tables: ['categories', 'category_names'],
    rows: (workspaceId) => sql`
      SELECT category.id, category.workspace_id, category.primary_language, category.created_at, category.updated_at,
        (SELECT json_agg(json_build_object('id', n.id, 'categoryId', n.category_id, 'workspaceId', n.workspace_id,
           'language', n.language, 'name', n.name, 'slug', n.slug, 'createdAt', ${sql.raw(isoText('n.created_at'))},
           'updatedAt', ${sql.raw(isoText('n.updated_at'))}) ORDER BY n.language COLLATE "C")
         FROM category_names AS n WHERE n.category_id = category.id) AS translations
      FROM categories AS category WHERE category.workspace_id = ${workspaceId}`,
    shape: asRow,
  },
  {
    name: 'articles',
    tables: ['articles'],
    rows: (workspaceId) =>
      sql`SELECT ${sql.join(articleColumns.map((column) => (typeof column === 'string' ? sql.ref(column) : column)))}
        FROM articles WHERE workspace_id = ${workspaceId} AND ${inLivingProject(workspaceId)}`,
    shape: async (row: ArticleRow, tx) => (await showArticle(tx, row)).article,
    large: true,
  },
  table('article-categories', 'article_categories', ofLivingArticle),
  {
    name: 'article-revisions',
    tables: ['article_revisions'],
    rows: (workspaceId) => sql`
      SELECT id, article_id, title, document::text AS document_text, meta_title, meta_description, target_keywords,
        secondary_keywords, word_count, author_kind, author_id, author_since, created_at FROM article_revisions
      WHERE workspace_id = ${workspaceId} AND ${ofLivingArticle(workspaceId)}`,
    shape: (row: Selectable<Tables['article_revisions']> & { document_text: string }) => ({
      articleId: row.article_id,
      ...toRevisionSummary(row),
      metaTitle: row.meta_title,
      metaDescription: row.meta_description,
      targetKeywords: row.target_keywords,
      secondaryKeywords: row.secondary_keywords,
      documentJson: new JsonText(row.document_text),
    }),
    large: true,
  },
  table('article-redirects', 'article_slug_redirects', inLivingProject),
  table('article-style-sheets', 'article_style_sheets', ofLivingArticle),
  { ...table('article-provenance', 'article_provenance', ofLivingArticle), large: true },
  table('assets', 'assets', ofLivingArticle, (row: AssetRow) => ({
    ...toAsset(row),
    contentHash: row.content_hash,
  })),
  { ...table('article-sources', 'article_sources', ofLivingArticle), large: true },
  table('article-notes', 'article_notes', ofLivingArticle),
  table('article-claims', 'article_claims', ofLivingArticle),
  {
    ...table('asset-former-blobs', 'asset_former_blobs'),
    rows: (workspaceId) => sql`
      SELECT former.* FROM asset_former_blobs AS former JOIN assets ON assets.id = former.asset_id
      WHERE former.workspace_id = ${workspaceId} AND ${ofLivingArticle(workspaceId)}`,
  },
  table('reviews', 'reviews', ofLivingArticle, toReview),
  table('idea-clusters', 'idea_clusters', inLivingProject),
  table('jobs', 'jobs', inLivingProject, toJob),
  { ...ofJob('translations', 'translations'), large: true },
  ofJob('translation-segments', 'translation_segments'),
  table('translation-proposals', 'proposals', ofLivingArticle),
  table('translation-memory', 'translation_memory', ofLivingArticle, (row: MemoryRow) => ({
    ...asRow(row),
    deletedHash: row.deleted_hash?.toString('hex') ?? null,
  })),
  { ...ofJob('generations', 'generations'), large: true },
  ofJob('generation-parts', 'generation_parts'),
  ofJob('generation-images', 'generation_images'),
  ofJob('generation-searches', 'generation_searches'),
  { ...ofJob('generation-pages', 'generation_pages'), large: true },
  table('generation-calls', 'generation_calls'),
  ofJob('unpaid-work', 'unpaid_work'),
  table('ai-operations', 'ai_operations'),
  table('ai-operation-usage', 'ai_operation_usage'),
  {
    name: 'webhook-endpoints',
    tables: ['webhook_endpoints'],
    // Without the secret, and the values of custom headers that are stored with it.
    rows: (workspaceId) => sql`
      SELECT id, url, events, description, active, paused_at, rate_limit, header_names AS headers, created_at,
        CASE WHEN NOT active THEN coalesce(disabled_for, 'operator') END AS disabled_for,
        CASE WHEN rotation_ends_at > now() THEN rotation_ends_at END AS rotation_ends_at
      FROM webhook_endpoints
      WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL`,
    shape: asRow,
  },
  table('events', 'events'),
  table('event-log', 'event_log'),
  table('deliveries-open', 'webhook_open'),
  table('deliveries-ended', 'webhook_log'),
];

/** Tables with rows of workspaces that an export leaves out, and why. */
export const NOT_EXPORTED: Readonly<Record<string, string>> = {
  operator_log: "the operator's own, of all workspaces",
  workspace_usage: 'follows from articles and revisions',
  article_links: 'follows from the documents of articles',
  remembered_versions: 'says which articles are in the translation memory; rebuilt from them',
  version_states: 'follows from articles and their provenance; counted again',
  address_changes: 'a list of work that is emptied within seconds',
  staged_blobs: 'bytes of open jobs, which no image has yet',
  link_checks: 'a list of work that is emptied within seconds',
  event_fanouts: 'a list of work that is emptied within seconds',
  event_queue: 'a list of work that is emptied within seconds',
  event_counters: 'follows from the event log',
  event_fanout_hours: 'counts of a day, for a bound',
  webhook_backlogs: 'how far the queue of an endpoint has come; it begins anew',
  webhook_missed: 'the part of the log that was not queued for an endpoint',
  webhook_health: 'figures of how endpoints fared; counted anew',
  webhook_paces: 'what receivers take now; learnt anew',
  webhook_hours: 'figures of how endpoints fared; counted anew',
};
