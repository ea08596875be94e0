import { sql } from 'kysely';
import { readAssets } from '../../articles/images.ts';
import { type ArticleRow, articleColumns } from '../../articles/queries.ts';
import { withCurrentRendering } from '../../articles/rendering.ts';
import type { Database, Queryable, Tx } from '../../db/database.ts';
import { CHANGED } from '../../db/retrying-changed.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { TaskArguments, TaskName, TaskResult } from '../../document/tasks/tasks.ts';
import { notFound } from '../../errors.ts';
import type { ArticleId, WorkspaceId } from '../../ids.ts';
import { writeJson } from '../../json-text.ts';
import { doSmallTask, doTask } from '../../threads/pool.ts';
import { toSnapshot } from '../read-source.ts';

/** Identifies a version. */
export interface VersionId {
  readonly workspaceId: WorkspaceId;
  readonly articleId: ArticleId;
}

/** A version that a refresh is planned from or applied to. */
export interface Version {
  readonly row: ArticleRow;
  /** Its content as the JSON text of a `Snapshot`. */
  readonly content: string;
  /** Provenance as JSON text; null without. */
  readonly provenance: string | null;
}

/** Undefined when the workspace has no such article. */
export async function readVersion(
  db: Queryable,
  { workspaceId, articleId }: VersionId,
): Promise<Version | undefined> {
  const row = await db
    .selectFrom('articles')
    .leftJoin('article_provenance', 'article_provenance.article_id', 'articles.id')
    .select(articleColumns)
    .select(sql<string | null>`units::text`.as('units'))
    .where('articles.workspace_id', '=', workspaceId)
    .where('articles.id', '=', articleId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { units, ...article } = row;
  const assets = await readAssets(db, workspaceId, articleId);
  return {
    row: article,
    content: writeJson(toSnapshot(article, assets)),
    provenance: units,
  };
}

const isSame = (one: Version, other: Version): boolean =>
  one.content === other.content && one.provenance === other.provenance && one.row.status === other.row.status;

/** Work on a whole version: `now` for small ones (undefined for others), `onThread` for any. */
export interface VersionWork<Output> {
  readonly now: (version: Version) => Output | undefined;
  readonly onThread: (version: Version) => Promise<Output>;
}

/** {@link VersionWork} by a task of the thread pool. */
export const versionTask = <Task extends TaskName>(
  task: Task,
  argumentsOf: (version: Version) => TaskArguments<Task>,
): VersionWork<TaskResult<Task>> => ({
  now: (version) => doSmallTask(task, ...argumentsOf(version)),
  onThread: (version) => doTask(task, ...argumentsOf(version)),
});

/** Rolls back: the version has changed, and is too large for work inside the transaction. */
class Moved extends Error {}

/**
 * Works on a version and writes the result in one transaction. The transaction never waits for a thread, since saves wait
 * for its locks. If the version has changed by then, the work is repeated: in place, or after a rollback.
 * @param write locks the version, then calls `worked` for the current version and the result; has no effect outside the
 *   transaction
 * @throws {ServiceError} RESOURCE_NOT_FOUND; SERVICE_UNAVAILABLE when the version changed each time
 */
export async function withVersion<Output, Result>(
  db: Database,
  id: VersionId,
  { now, onThread }: VersionWork<Output>,
  write: (tx: Tx, worked: () => Promise<{ version: Version; output: Output }>) => Promise<Result>,
): Promise<Result> {
  const attempt = async () => {
    const before = await readVersion(db, id);
    if (before === undefined) throw notFound('article');
    const prepared = await onThread(before);
    const workedIn = async (tx: Tx) => {
      const version = await readVersion(tx, id);
      if (version === undefined) throw notFound('article');
      if (isSame(version, before)) return { version, output: prepared };
      const output = now(version);
      if (output === undefined) throw new Moved();
      return { version, output };
    };
    try {
      return await inTransaction(db, (tx) => write(tx, () => workedIn(tx)));
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      return CHANGED;
    }
  };
  const origin = { actor: id, requestId: '' };
  return withCurrentRendering(db, origin, attempt);
}
