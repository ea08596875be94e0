import { type RawBuilder, sql } from 'kysely';
import { EVENT_TYPES } from '../../src/events/catalog.ts';
import { newId } from '../../src/ids.ts';
import { PERMISSIONS } from '../../src/permissions.ts';
import { createProject } from '../../src/projects/create.ts';
import { MAX_CLAIMS, MAX_NOTES, MAX_SOURCES } from '../../src/research/limits.ts';
import type { ScriptService, ScriptWorkspace } from './service.ts';

/** A list of the API. */
export interface List {
  readonly path: string;
  /** Items by the name of each array of its response; of a list with pages, of all pages. */
  readonly items: Readonly<Record<string, number>>;
}

/** Rows beyond a page of the largest limit, of lists whose length has no bound. */
const MANY = 250;
const LANGUAGES = 100;
/** Languages of styles, former ones of the project included. */
const STYLES = 200;

/** SQL: a unique text of so many characters, each six bytes as JSON: legal wherever a text may have any character. */
const wide = (characters: number): RawBuilder<string> =>
  sql`lpad(n::text, 8, '0') || repeat(chr(1), ${sql.lit(characters - 8)})`;
/** SQL: the same with characters of four bytes, where controls are refused. */
const wideVisible = (characters: number): RawBuilder<string> =>
  sql`lpad(n::text, 8, '0') || repeat(chr(131072), ${sql.lit(characters - 8)})`;
/** SQL: a URL as it is stored after it was normalised. */
const wideUrl = sql`'https://example.com/' || lpad(n::text, 8, '0') || repeat('a', 2020)`;
/** SQL: a language tag of 58 characters. */
const tag = sql<string>`'zh-x-' || lpad(n::text, 8, '0') || repeat('-abcdefg', 5)`;
const rows = (count: number) => sql`generate_series(1, ${count}::integer) AS n`;
const utf8 = (json: RawBuilder<unknown>): RawBuilder<Buffer> => sql`convert_to(${json}::text, 'UTF8')`;
const keywords = sql`array_fill(${wide(200)}, ARRAY[100])`;
const documentText = sql`'{"version":1,"blocks":[]}'::jsonb`;
/** Several pages of units. */
const UNITS = 2_000;
/** SQL: a document of so many blocks, whose ids have 64 characters. */
const blocks = sql`jsonb_build_object('version', 1, 'blocks', (SELECT jsonb_agg(jsonb_build_object(
    'id', lpad(n::text, 64, 'x'), 'type', 'paragraph', 'text', 'Text')) FROM ${rows(UNITS)}))`;

/**
 * Fills a new workspace up to its bounds, or beyond a page, with the widest legal texts.
 * @returns its lists by the `operationId` of each
 */
export async function fillLists(
  { db, register }: ScriptService,
  workspace: ScriptWorkspace,
): Promise<Readonly<Record<string, List>>> {
  const { id } = workspace;
  const run = (statement: RawBuilder<unknown>) => statement.execute(db);
  const projectId = await createProject(workspace.context, {
    name: 'Longest',
    languages: ['en'],
    primaryLanguage: 'en',
  });
  const [articleId, untranslatedId, sourceId, group, jobId] = Array.from({ length: 5 }, () => newId());
  const { id: endpointId } = await register(workspace, 'http://127.0.0.1:9/');
  const { rows: owners } = await sql<{ id: string }>`
    SELECT id FROM roles WHERE workspace_id = ${id} AND name = 'Owner'`.execute(db);
  const roleId = owners[0]?.id;

  await run(sql`INSERT INTO projects (id, workspace_id, name, languages, primary_language, address_template)
    SELECT gen_random_uuid(), ${id}, ${wide(200)}, ARRAY(SELECT ${tag} FROM ${rows(LANGUAGES)}),
      (SELECT ${tag} FROM ${rows(1)}), rpad('https://example.com/{slug}/', 500, 'a') FROM ${rows(999)}`);
  await run(sql`INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
      translation_group_id, meta_title, meta_description, target_keywords, secondary_keywords, published_url, is_translation)
    SELECT CASE n WHEN 1 THEN ${sourceId}::uuid ELSE gen_random_uuid() END, ${id}, ${projectId}, ${wide(300)},
      lpad(n::text, 120, '0'), 'DRAFT', ${documentText}, ${tag}, ${group}::uuid, ${wide(70)}, ${wide(200)}, ${keywords},
      ${keywords}, ${wideUrl}, n <> 1 FROM ${rows(LANGUAGES)}`);
  await run(sql`INSERT INTO article_provenance (article_id, workspace_id, source_article_id, units)
    SELECT id, workspace_id, ${sourceId}::uuid, '[]' FROM articles
    WHERE translation_group_id = ${group}::uuid AND id <> ${sourceId}::uuid`);
  await run(sql`INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
      translation_group_id)
    SELECT ids.id::uuid, ${id}, ${projectId}, 'One', 'one', 'DRAFT', ${blocks}, ids.language, ${newId()}::uuid
    FROM (VALUES (${articleId}, 'en'), (${untranslatedId}, 'de')) AS ids (id, language)`);
  await run(sql`INSERT INTO article_provenance (article_id, workspace_id, source_article_id, units)
    VALUES (${articleId}, ${id}, ${untranslatedId}, '[]')`);
  await run(sql`INSERT INTO translation_memory (workspace_id, project_id, article_id, source_language, target_language,
      kind, text_key, layer, made_by, source_text, target_text, used_at)
    SELECT ${id}, ${projectId}, ${articleId}, ${tag}, 'en', 'paragraph', n::text, 'people', '', ${wide(20_000)},
      ${wide(20_000)}, now() FROM ${rows(MANY)}`);

  await run(sql`INSERT INTO blobs (hash, size) VALUES (repeat('0', 64), 1)`);
  await run(sql`INSERT INTO assets (id, workspace_id, article_id, role, content_hash, media_type, byte_size, file_name,
      alt_text) SELECT gen_random_uuid(), ${id}, ${articleId}, 'inline', repeat('0', 64), 'image/png', 1, ${wide(255)},
      ${wide(1_000)} FROM ${rows(1_000)}`);
  await run(sql`INSERT INTO reviews (id, workspace_id, article_id, decision, previous_status, comment)
    SELECT gen_random_uuid(), ${id}, ${articleId}, 'rejected', 'NEEDS_REVIEW', ${wide(5_000)} FROM ${rows(1_000)}`);
  await run(sql`INSERT INTO article_revisions (workspace_id, article_id, title, document, target_keywords,
      secondary_keywords, created_at) SELECT ${id}, ${articleId}, ${wide(300)}, ${documentText}, '{}', '{}', now()
    FROM ${rows(50)}`);
  await run(sql`INSERT INTO jobs (id, workspace_id, project_id, article_id, kind, status, idempotency_key,
      estimated_credits, reserved_credits, error_code, error_message, workflow_id, ended_at)
    SELECT CASE n WHEN 1 THEN ${jobId}::uuid ELSE gen_random_uuid() END, ${id}, ${projectId}, ${articleId},
      'translation', 'FAILED', ${wide(200)}, 1, 1, 'TRANSLATION_FAILED', ${wide(500)}, 'soak-' || n, now()
    FROM ${rows(MANY)}`);
  await run(sql`INSERT INTO proposals (id, workspace_id, article_id, job_id, source_article_id, unit, proposal)
    SELECT gen_random_uuid(), ${id}, ${articleId}, ${jobId}, ${sourceId}, 'block:' || n, jsonb_build_object(
      'key', 'block:' || n, 'action', 'replace', 'reason', 'edited', 'value', jsonb_build_object('type', 'block',
        'block', jsonb_build_object('id', n::text, 'type', 'paragraph', 'text', ${wide(20_000)})))
    FROM ${rows(MANY)}`);

  await run(sql`INSERT INTO article_sources (id, workspace_id, article_id, job_id, position, url, title, site, fetched_at,
      hash, text) SELECT gen_random_uuid(), ${id}, ${articleId}, ${jobId}, n, ${wideUrl}, ${wide(300)}, ${wide(100)}, now(),
      repeat('0', 64), 'Text' FROM ${rows(MAX_SOURCES)}`);
  await run(sql`INSERT INTO article_notes (id, workspace_id, article_id, source_id, position, quote)
    SELECT gen_random_uuid(), ${id}, ${articleId}, (SELECT id FROM article_sources
      WHERE article_id = ${articleId}::uuid AND position = 1 + n % ${MAX_SOURCES}::integer), n, ${wide(600)}
    FROM ${rows(MAX_NOTES)}`);
  await run(sql`INSERT INTO article_claims (id, workspace_id, article_id, job_id, position, block_id, sentence, verdict,
      source_id, passage) SELECT gen_random_uuid(), ${id}, ${articleId}, ${jobId}, n, lpad(n::text, 64, 'x'), ${wide(600)},
      'supported', (SELECT id FROM article_sources WHERE article_id = ${articleId}::uuid AND position = n), ${wide(600)}
    FROM ${rows(MAX_CLAIMS)}`);

  await run(sql`INSERT INTO roles (id, workspace_id, name, permissions, name_key)
    SELECT gen_random_uuid(), ${id}, ${wide(120)}, ${[...PERMISSIONS]}::text[], n::text FROM ${rows(997)}`);
  await run(sql`INSERT INTO api_keys (id, workspace_id, role_id, label, prefix, key_hash, revoked_at)
    SELECT gen_random_uuid(), ${id}, ${roleId}, ${wide(120)}, lpad(n::text, 16, '0'), sha256((${id} || n)::bytea), now()
    FROM ${rows(49_999)}`);
  await run(sql`WITH made AS (
      INSERT INTO categories (id, workspace_id, primary_language)
      SELECT gen_random_uuid(), ${id}, ${tag} FROM ${rows(20_000)} RETURNING id, primary_language)
    INSERT INTO category_names (id, workspace_id, category_id, language, name, slug, name_key)
    SELECT gen_random_uuid(), ${id}, id, primary_language, rpad('x', 80, chr(1)), 'category', 'x' FROM made`);

  await run(sql`INSERT INTO glossary_terms (id, workspace_id, source_language, target_language, source_term, term_key,
      target_term, case_sensitive) SELECT gen_random_uuid(), ${id}, ${tag}, 'en', ${wideVisible(60)}, n::text,
      ${wideVisible(60)}, true FROM ${rows(5_000)}`);
  await run(sql`INSERT INTO translation_styles (workspace_id, project_id, language, formality, instructions)
    SELECT ${id}, ${projectId}, ${tag}, 'informal', ${wide(2_000)} FROM ${rows(STYLES)}`);
  await run(sql`INSERT INTO brand_voices (id, workspace_id, name, name_key, instructions)
    SELECT gen_random_uuid(), ${id}, ${wide(120)}, n::text, ${wide(4_000)} FROM ${rows(100)}`);
  await run(sql`INSERT INTO content_templates (id, workspace_id, name, name_key, text)
    SELECT gen_random_uuid(), ${id}, ${wide(120)}, n::text, ${wide(8_000)} FROM ${rows(100)}`);

  await run(sql`INSERT INTO ledger_entries (workspace_id, kind, amount, payment_event_id)
    SELECT ${id}, 'grant', 1, ${wide(255)} FROM ${rows(MANY)}`);
  await run(sql`INSERT INTO audit_entries (id, workspace_id, actor_kind, action, target_type, details, request_id)
    SELECT gen_random_uuid(), ${id}, 'system', 'projects.updated', 'project',
      jsonb_build_object('name', ${wide(200)}, 'languages', ARRAY(SELECT ${tag} FROM ${rows(LANGUAGES)})),
      repeat('r', 128) FROM ${rows(MANY)}`);
  await run(sql`INSERT INTO webhook_endpoints (id, workspace_id, url, secret, events, description)
    SELECT gen_random_uuid(), ${id}, ${wideUrl}, 'whsec_soak', ${[...EVENT_TYPES]}::text[], ${wide(500)}
    FROM ${rows(99)}`);
  await run(sql`INSERT INTO webhook_open (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, attempts,
      error_message, created_at) SELECT uuidv7(), ${id}, ${endpointId}, uuidv7(), now(), 'article.created', 1,
      ${wide(500)}, now() FROM ${rows(MANY)}`);
  await run(sql`WITH stored AS (
      INSERT INTO events (id, workspace_id, type, article_id, body, request_id, created_at)
      SELECT uuidv7(), ${id}, 'article.created', ${articleId}, ${utf8(sql`jsonb_build_object('event', 'article.created',
        'data', jsonb_build_object('articleId', ${articleId}::text, 'projectId', ${projectId}::text, 'title', ${wide(300)}))`)},
        'soak', now() FROM ${rows(MANY)} RETURNING id, created_at)
    INSERT INTO event_log (workspace_id, number, event_id, event_created_at, instant)
    SELECT ${id}, row_number() OVER (ORDER BY id), id, created_at, now() FROM stored`);
  await run(sql`INSERT INTO event_counters (workspace_id, number, event_id, instant)
    SELECT workspace_id, number, event_id, instant FROM event_log WHERE workspace_id = ${id} AND number = ${MANY}
    ON CONFLICT (workspace_id) DO UPDATE
    SET number = excluded.number, event_id = excluded.event_id, instant = excluded.instant`);
  await run(sql`ANALYZE`);

  const count = async (table: string): Promise<number> => {
    const { rows: counted } = await sql<{ count: number }>`
      SELECT count(*)::integer AS count FROM ${sql.table(table)} WHERE workspace_id = ${id}`.execute(db);
    return counted[0]?.count ?? 0;
  };
  const ofWorkspace = (name: string) => `/api/workspaces/${id}/${name}`;
  const ofArticle = (name: string) => `/api/articles/${articleId}/${name}`;
  const ofGroup = (name: string) => `/api/articles/${sourceId}/${name}`;
  return {
    listApiKeys: { path: ofWorkspace('api-keys'), items: { apiKeys: 50_000 } },
    whoami: { path: '/api/whoami', items: { permissions: PERMISSIONS.length } },
    listRoles: { path: ofWorkspace('roles'), items: { roles: 1_000 } },
    listWebhooks: {
      path: ofWorkspace('webhooks'),
      items: { endpoints: 100, deliveries: 50, events: EVENT_TYPES.length },
    },
    listOpenWebhookDeliveries: {
      path: ofWorkspace(`webhooks/${endpointId}/deliveries`),
      items: { deliveries: 100 },
    },
    listWebhookDeliveries: { path: ofWorkspace('webhooks/deliveries'), items: { deliveries: MANY } },
    pullEvents: { path: ofWorkspace('events'), items: { events: MANY } },
    listSources: { path: ofArticle('sources'), items: { sources: MAX_SOURCES } },
    listClaims: { path: ofArticle('claims'), items: { claims: MAX_CLAIMS } },
    listProjects: { path: ofWorkspace('projects'), items: { projects: 1_000 } },
    listArticles: { path: ofWorkspace('articles'), items: { articles: LANGUAGES + 2 } },
    listArticleVersions: { path: ofGroup('versions'), items: { versions: LANGUAGES } },
    listRevisions: { path: ofArticle('revisions'), items: { revisions: 50 } },
    listReviews: { path: ofArticle('reviews'), items: { reviews: 1_000 } },
    listAssets: { path: ofArticle('assets'), items: { assets: 1_000 } },
    listCategories: { path: ofWorkspace('categories'), items: { categories: 20_000 } },
    listTranslations: { path: ofGroup('translations'), items: { translations: LANGUAGES } },
    // Title, meta texts and two lists of keywords besides the blocks.
    readTranslationState: { path: ofArticle('translation-state'), items: { units: UNITS + 5 } },
    listTranslationMemory: { path: ofWorkspace('translation-memory'), items: { entries: MANY } },
    listProjectTranslations: {
      path: `/api/projects/${projectId}/translations`,
      items: { translations: LANGUAGES - 1 },
    },
    listProposals: { path: ofArticle('proposals'), items: { proposals: MANY } },
    listBrandVoices: { path: ofWorkspace('brand-voices'), items: { brandVoices: 100 } },
    listContentTemplates: { path: ofWorkspace('content-templates'), items: { contentTemplates: 105 } },
    listGlossaryTerms: { path: ofWorkspace('glossary'), items: { terms: 5_000 } },
    listTranslationStyles: {
      path: `/api/projects/${projectId}/translation-styles`,
      items: { styles: STYLES },
    },
    listArticleJobs: { path: ofArticle('jobs'), items: { jobs: MANY } },
    listLedger: { path: ofWorkspace('ledger'), items: { entries: await count('ledger_entries') } },
    listAuditEntries: { path: ofWorkspace('audit'), items: { entries: await count('audit_entries') } },
  };
}
