import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Database } from '../../db/database.ts';
import { inLivingProject } from '../../db/living-projects.ts';
import type { MemoryLayer } from '../../db/tables.ts';
import { escapeXml, plainText } from '../../document/translation/tags.ts';
import { iso } from '../../fields.ts';
import { encodeCursor, type PageRequest, type Position, readPage } from '../../http/paging.ts';
import type { MemoryEntryId, WorkspaceId } from '../../ids.ts';
import type { MemoryEntry, MemoryPage } from './schemas.ts';

/** What one request looks at, entries and octets of their texts: its cost is the same whatever it looks for. */
const LOOKED_AT = 5_000;
const LOOKED_AT_BYTES = 2 * 1_024 * 1_024;

/** The wire's name of a layer. */
export const originOf = (layer: MemoryLayer): MemoryEntry['origin'] =>
  layer === 'people' ? 'people' : 'engine';

/** SQL: a stored text as people read it, in lower case; references such as `&amp;` stay. */
const readable = (text: 'memory.source_text' | 'memory.target_text') =>
  sql<string>`lower(regexp_replace(${sql.ref(text)}, '<[^>]*>', '', 'g'))`;

function entriesOf(db: Database, workspaceId: WorkspaceId, language: string | undefined) {
  const entries = db
    .selectFrom('translation_memory as memory')
    .where('memory.workspace_id', '=', workspaceId)
    .where('memory.deleted_hash', 'is', null);
  return language === undefined ? entries : entries.where('memory.target_language', '=', language);
}

/** The last entry that the request looks at; null when it comes to the end of the memory. */
async function endOf(
  db: Database,
  workspaceId: WorkspaceId,
  language: string | undefined,
  position: Position<MemoryEntryId> | null,
): Promise<Position<MemoryEntryId> | null> {
  let next = entriesOf(db, workspaceId, language).select(['memory.written_at', 'memory.id', 'memory.bytes']);
  if (position !== null) {
    next = next.where(sql<boolean>`(memory.written_at, memory.id) < (${iso(position.at)}, ${position.id})`);
  }
  const looked = next.orderBy('memory.written_at', 'desc').orderBy('memory.id', 'desc').limit(LOOKED_AT);
  const { rows } = await sql<Position<MemoryEntryId>>`
    SELECT written_at AS at, id FROM (
      SELECT looked.*, row_number() OVER newest AS place, sum(bytes) OVER newest AS read
      FROM (${looked}) AS looked
      WINDOW newest AS (ORDER BY written_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
    ) AS counted
    WHERE place = ${LOOKED_AT} OR read >= ${LOOKED_AT_BYTES} ORDER BY place LIMIT 1`.execute(db);
  return rows[0] ?? null;
}

/**
 * One page of the workspace's memory, the newest entries first (articles.read; contract.md V55). With filters a page may
 * be short or empty and have a `nextCursor` all the same: each request looks at a limited number of entries.
 */
export async function listMemory(
  { db, actor }: VerbContext,
  {
    language,
    q,
    ...page
  }: PageRequest<MemoryEntryId> & {
    readonly language?: string | undefined;
    readonly q?: string | undefined;
  },
): Promise<MemoryPage> {
  requirePermissions(actor, 'articles.read');
  const { workspaceId } = actor;
  const end = await endOf(db, workspaceId, language, page.position);
  let wanted = entriesOf(db, workspaceId, language)
    .innerJoin('articles', 'articles.id', 'memory.article_id')
    .leftJoin('remembered_versions as remembered', 'remembered.article_id', 'memory.article_id')
    .where(inLivingProject(workspaceId, 'memory.project_id'));
  if (end !== null) {
    wanted = wanted.where(sql<boolean>`(memory.written_at, memory.id) >= (${iso(end.at)}, ${end.id})`);
  }
  if (q !== undefined) {
    const text = sql`lower(${escapeXml(q)})`;
    wanted = wanted.where(
      sql<boolean>`(strpos(${readable('memory.source_text')}, ${text}) > 0
        OR strpos(${readable('memory.target_text')}, ${text}) > 0)`,
    );
  }
  const found = wanted.select([
    'memory.id',
    'memory.written_at as created_at',
    'memory.layer',
    'memory.kind',
    'memory.source_language',
    'memory.target_language',
    'memory.source_text',
    'memory.target_text',
    'memory.project_id',
    'memory.article_id',
    'articles.title',
    sql<boolean>`memory.layer = 'machine' OR articles.status IN ('APPROVED', 'PUBLISHED')
      AND remembered.read_of IS NOT DISTINCT FROM articles.updated_at`.as('serves'),
  ]);
  const { rows, nextCursor } = await readPage(db, db.selectFrom(found.as('entry')).selectAll(), page);
  return {
    entries: rows.map((row) => ({
      id: row.id,
      origin: originOf(row.layer),
      kind: row.kind,
      sourceLanguage: row.source_language,
      language: row.target_language,
      sourceText: plainText(row.source_text),
      targetText: plainText(row.target_text),
      projectId: row.project_id,
      article: { id: row.article_id, title: row.title },
      serves: row.serves,
      createdAt: iso(row.created_at),
    })),
    nextCursor: nextCursor ?? (end === null ? null : encodeCursor(end)),
  };
}
