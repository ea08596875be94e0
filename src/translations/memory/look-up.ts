import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { MemoryLayer } from '../../db/tables.ts';
import type { MemoryKey } from '../../document/tasks/memory.ts';
import type { LanguagePair } from '../../document/translation/figures.ts';
import { type PlannedSegment, revisedFrom } from '../../document/translation/planned.ts';
import type { ArticleId, JobId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { GlossaryTerm, JobContext, TranslationProvider } from '../../providers/types.ts';
import { doTask } from '../../threads/pool.ts';
import { learnFromPeople, type MemoryScope } from './people.ts';
import { voiceKey } from './voice.ts';

/** Texts that one task checks: any 2,000 fit a thread's time limit. */
const CHECKED = 2_000;
/** Approvals of one text that a look-up considers, so that no text costs more, however often it was approved. */
const NEWEST = 100;

/** The segments to translate, and the engine that would translate them. */
export interface MemoryQuestion {
  readonly jobId: JobId;
  readonly workspaceId: WorkspaceId;
  readonly projectId: ProjectId;
  /** The source article; null when it was deleted. */
  readonly sourceId: ArticleId | null;
  readonly languages: LanguagePair;
  readonly segments: readonly PlannedSegment[];
  readonly engine: Pick<TranslationProvider, 'name' | 'edition'>;
  readonly style: JobContext['style'];
  readonly sheet: JobContext['sheet'];
  readonly glossary: readonly GlossaryTerm[];
  /** True to translate again, whatever the memory has. */
  readonly bypassMemory: boolean;
}

/** A translation from the memory. */
export interface Remembered {
  readonly text: string;
  readonly layer: MemoryLayer;
}

export interface MemoryMatches {
  /** By segment key. */
  readonly found: ReadonlyMap<string, Remembered>;
  /** By segment key, the memory key under which its translation is stored. */
  readonly keys: ReadonlyMap<string, MemoryKey>;
}

interface Row extends Remembered {
  readonly key: string;
  /** The entry's article; null for a text of an unsettled run. */
  readonly article_id: ArticleId | null;
}

/**
 * Finds segments that need no engine request, in this workspace alone. Sources in order: texts that people approved in this
 * project, or in any where the workspace shares its memory, the newest approval (contract.md V51 and V52); texts
 * of the same engine with the same style and terms; texts of the last planned run over the same source, if that failed or
 * was cancelled. All matches pass the checks.
 */
export async function lookUpMemory(db: Database, question: MemoryQuestion): Promise<MemoryMatches> {
  const { languages, segments, engine, style, sheet, glossary, bypassMemory } = question;
  const texts = new Map(segments.map(({ key, text }) => [key, text]));
  const kinds = new Map(segments.map(({ key, kind }) => [key, kind]));
  const revised = new Map(
    segments.flatMap((segment) => {
      const old = revisedFrom(segment);
      return old === null ? [] : [[segment.key, old] as const];
    }),
  );
  const facts = { ...languages, glossary, pseudo: engine.name === 'pseudo' };
  const maker = JSON.stringify([engine.name, engine.edition ?? null, style?.instructions ?? null]);
  const keys = await doTask(
    'memoryKeys',
    texts,
    kinds,
    revised,
    languages,
    maker,
    JSON.stringify(glossary),
    voiceKey({ style, sheet }),
  );
  const scope = await scopeOf(db, question);
  if (!bypassMemory) await learnFromPeople(db, scope, { ...facts, glossary: [] });
  const { rows } = await candidatesOf(question, scope, keys).execute(db);
  const found = new Map<string, Row>();
  for (let at = 0; at < rows.length; at += CHECKED) {
    const some = rows.slice(at, at + CHECKED);
    const candidates = some.map(({ key, text, layer }) => ({
      kind: kinds.get(key),
      source: texts.get(key),
      target: text,
      approved: layer === 'people',
    }));
    for (const place of await doTask('fitting', JSON.stringify(candidates), facts)) {
      const row = some[place];
      if (row && (row.layer === 'people' || !found.has(row.key))) found.set(row.key, row);
    }
  }
  await noteUse(db, [...found.values()], keys);
  return { found, keys };
}

async function scopeOf(
  db: Database,
  { workspaceId, projectId }: Pick<MemoryQuestion, 'workspaceId' | 'projectId'>,
): Promise<MemoryScope> {
  const { shared_memory: isShared } = await db
    .selectFrom('workspaces')
    .select('shared_memory')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return { workspaceId, projectId: isShared ? null : projectId };
}

/** SQL over `translation_memory AS memory`: what people have approved in the scope; each form has its index. */
const approvedIn = ({ workspaceId, projectId }: MemoryScope) =>
  projectId === null
    ? sql`memory.workspace_id = ${workspaceId} AND memory.made_by = ''`
    : sql`memory.workspace_id = ${workspaceId} AND memory.project_id = ${projectId} AND memory.layer = 'people'`;

/** The query of a look-up: for each text the newest of each layer, along an index. */
export const candidatesOf = (
  {
    jobId,
    workspaceId,
    sourceId,
    languages,
    bypassMemory,
  }: Pick<MemoryQuestion, 'jobId' | 'workspaceId' | 'sourceId' | 'languages' | 'bypassMemory'>,
  scope: MemoryScope,
  keys: ReadonlyMap<string, MemoryKey>,
): RawBuilder<Row> =>
  sql<Row>`
    WITH wanted AS (
      SELECT * FROM unnest(
        ${[...keys.keys()]}::text[],
        ${[...keys.values()].map(({ text }) => text)}::text[],
        ${[...keys.values()].map(({ maker }) => maker)}::text[]
      ) AS wanted (key, text_key, made_by)
    ), latest AS (
      SELECT job.id, job.status
      FROM translations JOIN jobs AS job ON job.id = translations.job_id
      WHERE source_article_id = ${sourceId} AND target_language = ${languages.targetLanguage}
        AND job.id <> ${jobId} AND job.ended_at IS NOT NULL AND batch_count IS NOT NULL
      ORDER BY job.created_at DESC, job.id DESC LIMIT 1
    ), before AS MATERIALIZED (
      SELECT job_id FROM latest JOIN translations ON job_id = latest.id
      WHERE latest.status <> 'COMPLETED' AND (NOT ${bypassMemory} OR (snapshot -> 'anew')::boolean)
    ), unsettled AS (
      SELECT DISTINCT ON (text_key, made_by) text_key, made_by, target_text AS text
      FROM translation_segments JOIN before USING (job_id)
      WHERE target_text IS NOT NULL AND outcome IS DISTINCT FROM 'accepted' AND from_memory IS DISTINCT FROM 'people'
    )
    SELECT key, article_id, text, layer FROM wanted CROSS JOIN LATERAL (
      SELECT article_id, target_text AS text, layer FROM (
        SELECT article_id, target_text, layer, written_at FROM translation_memory AS memory
        WHERE NOT ${bypassMemory} AND ${approvedIn(scope)} AND memory.text_key = wanted.text_key
          AND deleted_hash IS NULL
        ORDER BY written_at DESC, article_id DESC LIMIT ${NEWEST}) AS newest
      JOIN articles ON articles.id = article_id AND status IN ('APPROVED', 'PUBLISHED')
      JOIN remembered_versions AS remembered USING (article_id)
      WHERE read_of = articles.updated_at
      ORDER BY written_at DESC, article_id DESC LIMIT 1) AS people
    UNION ALL
    SELECT key, article_id, text, layer FROM wanted CROSS JOIN LATERAL (
      SELECT article_id, target_text AS text, layer FROM translation_memory AS memory
      WHERE NOT ${bypassMemory} AND memory.workspace_id = ${workspaceId}
        AND memory.text_key = wanted.text_key AND memory.made_by = wanted.made_by AND deleted_hash IS NULL
      ORDER BY written_at DESC, article_id DESC LIMIT 1) AS machine
    UNION ALL
    SELECT key, NULL, text, 'machine' FROM wanted JOIN unsettled USING (text_key, made_by)`;

/** Entries are kept while they are used. `used_at` has a resolution of a day, so that runs do not rewrite the same rows. */
async function noteUse(
  db: Database,
  rows: readonly Row[],
  keys: ReadonlyMap<string, MemoryKey>,
): Promise<void> {
  const stored = rows.filter(({ article_id }) => article_id !== null);
  if (stored.length === 0) return;
  await sql`
    UPDATE translation_memory SET used_at = now() WHERE ctid = ANY (ARRAY(
      SELECT memory.ctid FROM translation_memory AS memory
      JOIN unnest(
        ${stored.map(({ article_id }) => article_id)}::uuid[],
        ${stored.map(({ layer }) => layer)}::text[],
        ${stored.map(({ key }) => keys.get(key)?.text ?? '')}::text[]
      ) AS used (article_id, layer, text_key) USING (article_id, layer, text_key)
      WHERE used_at < now() - interval '1 day'
      FOR UPDATE OF memory SKIP LOCKED))`.execute(db);
}
