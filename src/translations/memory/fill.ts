import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { MemoryLayer } from '../../db/tables.ts';
import type { LanguagePair, MemoryKey } from '../../document/tasks/memory.ts';
import type { Segment } from '../../document/translation/segments.ts';
import type { ArticleId, JobId, WorkspaceId } from '../../ids.ts';
import type { GlossaryTerm, Style, TranslationProvider } from '../../providers/types.ts';
import { doTask } from '../../threads/pool.ts';
import { learnFromPeople } from './people.ts';

/** Texts that are checked in one go: few enough for the time that a thread has, whatever they are. */
const CHECKED = 2_000;

/** What is to be translated, and what would make it. */
export interface MemoryQuestion {
  readonly jobId: JobId;
  readonly workspaceId: WorkspaceId;
  /** What is translated; null when it is gone. */
  readonly sourceId: ArticleId | null;
  readonly languages: LanguagePair;
  readonly segments: readonly Segment[];
  readonly engine: Pick<TranslationProvider, 'name' | 'edition'>;
  readonly style: Style | null;
  /** The terms that go along. */
  readonly glossary: readonly GlossaryTerm[];
  /** True for what is to be translated anew, whatever is remembered. */
  readonly anew: boolean;
}

/** A translation that is there already. */
export interface Remembered {
  readonly text: string;
  readonly layer: MemoryLayer;
}

export interface FromMemory {
  /** By segment key. */
  readonly found: ReadonlyMap<string, Remembered>;
  /** What each segment is remembered by, once it is translated. */
  readonly keys: ReadonlyMap<string, MemoryKey>;
}

interface Row extends Remembered {
  readonly key: string;
  /** Whose entry it is; null when an unsettled run had made it. */
  readonly article_id: ArticleId | null;
}

/**
 * What a job need not ask an engine for: what people have approved, then what the same engine has made under the same
 * style and terms, in this workspace alone; and what the last run over the same source that was planned had finished when
 * it failed or was cancelled. All of it passes the checks.
 */
export async function fromMemory(db: Database, question: MemoryQuestion): Promise<FromMemory> {
  const { workspaceId, languages, segments, engine, style, glossary, anew } = question;
  const texts = new Map(segments.map(({ key, text }) => [key, text]));
  const kinds = new Map(segments.map(({ key, kind }) => [key, kind]));
  const facts = { ...languages, glossary, pseudo: engine.name === 'pseudo' };
  const maker = JSON.stringify([engine.name, engine.edition ?? null, style]);
  const keys = await doTask('memoryKeys', texts, kinds, languages, maker, JSON.stringify(glossary));
  if (!anew) await learnFromPeople(db, workspaceId, { ...facts, glossary: [] });
  const rows = await lookUp(db, question, keys);
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

async function lookUp(
  db: Database,
  { jobId, workspaceId, sourceId, languages, anew }: MemoryQuestion,
  keys: ReadonlyMap<string, MemoryKey>,
): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
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
      WHERE latest.status <> 'COMPLETED' AND (NOT ${anew} OR (snapshot -> 'anew')::boolean)
    ), unsettled AS (
      SELECT DISTINCT ON (text_key, made_by) text_key, made_by, target_text AS text
      FROM translation_segments JOIN before USING (job_id)
      WHERE target_text IS NOT NULL AND outcome IS DISTINCT FROM 'accepted' AND from_memory IS DISTINCT FROM 'people'
    )
    SELECT key, article_id, text, layer FROM wanted CROSS JOIN LATERAL (
      SELECT article_id, target_text AS text, layer FROM translation_memory AS memory
      JOIN articles ON articles.id = article_id AND status IN ('APPROVED', 'PUBLISHED')
      JOIN remembered_versions AS remembered USING (article_id)
      WHERE read_of = articles.updated_at AND NOT ${anew} AND memory.workspace_id = ${workspaceId}
        AND memory.text_key = wanted.text_key AND memory.made_by = ''
      ORDER BY written_at DESC LIMIT 1) AS people
    UNION ALL
    SELECT key, article_id, text, layer FROM wanted CROSS JOIN LATERAL (
      SELECT article_id, target_text AS text, layer FROM translation_memory AS memory
      WHERE NOT ${anew} AND memory.workspace_id = ${workspaceId}
        AND memory.text_key = wanted.text_key AND memory.made_by = wanted.made_by
      ORDER BY written_at DESC LIMIT 1) AS machine
    UNION ALL
    SELECT key, NULL, text, 'machine' FROM wanted JOIN unsettled USING (text_key, made_by)`.execute(db);
  return rows;
}

/** Entries stay for as long as they are used: noted to the day, so that the same ones are not written with each run. */
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
