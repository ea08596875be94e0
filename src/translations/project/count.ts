import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { StateCounts } from '../../document/refresh/types.ts';
import { createFairQueue } from '../../fair-queue.ts';
import { iso } from '../../fields.ts';
import type { Position } from '../../http/paging.ts';
import type { ArticleId, ProjectId, WorkspaceId } from '../../ids.ts';
import { currentShare, noRoom } from '../../threads/share.ts';
import { countStates, knownStates, stateColumns, type VersionStates } from '../states.ts';

/** Versions that one request looks at: its cost is the same whatever it looks for. */
export const LOOKED_AT = 1_000;
/** Versions counted together, and the octets of their articles; their sources have about as many. */
const COUNTED_AT_ONCE = 50;
const BYTES_AT_ONCE = 8 * 1_024 * 1_024;

/** Counting in this process, one piece of a workspace at a time: what waits finds counted what the one before it counted. */
const turns = createFairQueue({ total: 4, perOwner: 1, maxWaiting: 500, refusal: noRoom });

/** The versions of a project, and those of one language only. */
export interface ProjectVersions {
  readonly workspaceId: WorkspaceId;
  readonly projectId: ProjectId;
  readonly language?: string | undefined;
}

export interface LookedAt extends VersionStates {
  readonly created_at: Date;
  /** Of the article as stored, with its renderings. */
  readonly bytes: number;
}

const articlesOf = (db: Database, workspaceId: WorkspaceId) =>
  db
    .selectFrom('articles')
    .select(['articles.id', 'articles.created_at', 'articles.bytes', 'articles.content_version'])
    .where('articles.workspace_id', '=', workspaceId);

/** These articles with their states, looked up one by one: no plan reads the tables of all workspaces. */
const withStates = (db: Database, articles: ReturnType<typeof articlesOf>) =>
  db
    .selectFrom(articles.as('articles'))
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('article_provenance')
          .select(['article_id', 'workspace_id', 'source_article_id', sql`xmin`.as('xmin')])
          .whereRef('article_id', '=', 'articles.id')
          .limit(1)
          .as('known'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('version_states')
          .select(['tag', 'states'])
          .whereRef('article_id', '=', 'articles.id')
          .limit(1)
          .as('counted'),
      (join) => join.onTrue(),
    )
    .select(['articles.id', 'articles.created_at', 'articles.bytes'])
    .select(stateColumns)
    .orderBy('articles.created_at', 'desc')
    .orderBy('articles.id', 'desc');

/** A query for the next `most` versions of a project behind a position, newest first, without their articles (contract.md T64). */
export function lookAt(
  db: Database,
  { workspaceId, projectId, language }: ProjectVersions,
  position: Position<ArticleId> | null,
  most: number,
) {
  let next = articlesOf(db, workspaceId)
    .where('articles.project_id', '=', projectId)
    .where(sql<boolean>`articles.is_translation`)
    .orderBy('articles.created_at', 'desc')
    .orderBy('articles.id', 'desc')
    .limit(most);
  if (language !== undefined) next = next.where('articles.primary_language', '=', language);
  if (position !== null) {
    const { at, id } = position;
    next = next.where(sql<boolean>`(articles.created_at, articles.id) < (${iso(at)}, ${id})`);
  }
  return withStates(db, next);
}

/** The first of these versions that are counted together; one at least. */
export function countedTogether(unknown: readonly LookedAt[]): readonly LookedAt[] {
  let bytes = 0;
  const end = unknown.findIndex((version, index) => {
    bytes += version.bytes;
    return index === COUNTED_AT_ONCE || (index > 0 && bytes > BYTES_AT_ONCE);
  });
  return end === -1 ? unknown : unknown.slice(0, end);
}

/**
 * Counts the states of versions in the workspace's turn, but for those that were counted meanwhile.
 * @param onError called for a version that could not be compared; its states stay unknown
 * @throws {ServiceError} SERVICE_UNAVAILABLE when the turn did not come in time
 */
export async function countInTurn(
  db: Database,
  workspaceId: WorkspaceId,
  versions: readonly LookedAt[],
  onError: (id: ArticleId, error: unknown) => void,
): Promise<Map<ArticleId, StateCounts>> {
  const release = await turns.take(workspaceId, currentShare());
  try {
    const ids = versions.map(({ id }) => id);
    const present = await withStates(
      db,
      articlesOf(db, workspaceId).where('articles.id', 'in', ids),
    ).execute();
    const unknown = present.filter((version) => knownStates(version) === undefined);
    const counts = await countStates(db, workspaceId, unknown, onError);
    for (const version of present) {
      const states = knownStates(version);
      if (states) counts.set(version.id, states);
    }
    return counts;
  } finally {
    release();
  }
}
