import { sql } from 'kysely';
import type { Watcher } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { removeNewest } from '../db/remove-newest.ts';
import { inTransaction } from '../db/transaction.ts';
import type { WorkspaceId } from '../ids.ts';
import { removeDeliveries, removeEmptied as removeEmptiedEndpoint } from '../webhooks/endpoints/empty.ts';

/**
 * The largest tables of a workspace, each after those that refer to it, and the rows per statement: an article is
 * deleted with its document, images and jobs. The rest is deleted with the workspace's own row.
 */
const LARGE = [
  ['article_revisions', 500],
  ['translation_memory', 5_000],
  ['articles', 100],
  ['generation_calls', 5_000],
  ['ai_operations', 1_000],
  ['glossary_terms', 5_000],
  ['audit_entries', 5_000],
  ['ledger_entries', 5_000],
  ['holds', 5_000],
] as const;
/** Events that one statement removes, and entries of their log. */
const EVENTS = 5_000;
/** The log of events and what is not in it yet; without a column for `removeNewest`. */
const EVENT_LOG = ['event_queue', 'event_log'] as const;
/** Workspaces of one round of `reconcile`, and its time. */
const MAX_WORKSPACES = 1_000;
const ROUND_MS = 30_000;

/** Removes the rows of one kind in batches, as long as `goesOn`. @returns whether none is left */
async function removeAll(goesOn: () => boolean, removeBatch: () => Promise<number>): Promise<boolean> {
  do {
    if (!goesOn()) return false;
  } while ((await removeBatch()) > 0);
  return true;
}

/** Entries of the log's tables, by their key. */
const removeLogged = (db: Database, table: (typeof EVENT_LOG)[number], id: WorkspaceId) =>
  inTransaction(db, async (tx) => {
    const key = sql.ref(table === 'event_queue' ? 'id' : 'number');
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM ${sql.table(table)} WHERE workspace_id = ${id} AND ${key} <= (
        SELECT max(${key}) FROM (
          SELECT ${key} FROM ${sql.table(table)} WHERE workspace_id = ${id} ORDER BY ${key} LIMIT ${EVENTS}
        ) AS first)`.execute(tx);
    return Number(numAffectedRows);
  });

const removeSome = (db: Database, table: (typeof LARGE)[number][0], id: WorkspaceId, most: number) =>
  inTransaction(db, async (tx) => {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM ${sql.table(table)} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${sql.table(table)} WHERE workspace_id = ${id} LIMIT ${most}))`.execute(tx);
    return Number(numAffectedRows);
  });

/**
 * Removes a deleted workspace's own row once only cascading rows are left: no endpoint, which stays for two minutes,
 * and no event, nor any of their log. A transaction that still stores an event holds the row.
 */
const removeEmptied = (db: Database, id: WorkspaceId): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const row = await tx
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) return true;
    const { numDeletedRows } = await tx
      .deleteFrom('workspaces')
      .where('id', '=', id)
      .where('deleted_at', 'is not', null)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('webhook_endpoints').select('id').where('workspace_id', '=', id))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('events').select('id').where('workspace_id', '=', id))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('event_queue').select('id').where('workspace_id', '=', id))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('event_log').select('number').where('workspace_id', '=', id))),
      )
      .executeTakeFirst();
    return numDeletedRows > 0n;
  });

/**
 * Removes what a deleted workspace has, in batches that commit by themselves, and its row last. Idempotent, and safe to
 * run concurrently.
 * @param goesOn checked before each batch
 * @returns whether all of it is gone
 */
export async function emptyWorkspace(db: Database, id: WorkspaceId, goesOn: () => boolean): Promise<boolean> {
  const endpoints = await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('workspace_id', '=', id)
    .where('deleted_at', 'is not', null)
    .execute();
  for (const endpoint of endpoints) {
    if (!(await removeAll(goesOn, () => removeDeliveries(db, endpoint.id)))) return false;
    await removeEmptiedEndpoint(db, endpoint.id);
  }
  const ofWorkspace = sql<boolean>`workspace_id = ${id}`;
  if (!(await removeAll(goesOn, () => removeNewest(db, 'events', ofWorkspace, EVENTS)))) return false;
  for (const table of EVENT_LOG) {
    if (!(await removeAll(goesOn, () => removeLogged(db, table, id)))) return false;
  }
  for (const [table, most] of LARGE) {
    if (!(await removeAll(goesOn, () => removeSome(db, table, id, most)))) return false;
  }
  return goesOn() && removeEmptied(db, id);
}

/**
 * Ends the grace of a deleted workspace: its keys and the secrets of its endpoints go, and nobody can restore it.
 * @returns false when it was restored meanwhile, or its grace is not over
 */
const endGrace = (db: Database, id: WorkspaceId, graceMs: number): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('workspaces')
      .set((eb) => ({ emptying_since: eb.fn.coalesce('emptying_since', eb.fn<Date>('now')) }))
      .where('id', '=', id)
      .where(isOver(graceMs))
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await tx
      .updateTable('api_keys')
      .set((eb) => ({ revoked_at: eb.fn<Date>('now') }))
      .where('workspace_id', '=', id)
      .where('revoked_at', 'is', null)
      .execute();
    await tx
      .updateTable('webhook_endpoints')
      .set((eb) => ({ deleted_at: eb.fn<Date>('now'), secret: '' }))
      .where('workspace_id', '=', id)
      .where('deleted_at', 'is', null)
      .execute();
    return true;
  });

/** SQL over `workspaces`: whether the row is to be emptied. */
const isOver = (graceMs: number) => sql<boolean>`deleted_at IS NOT NULL
  AND (emptying_since IS NOT NULL OR deleted_at <= now() - make_interval(secs => ${graceMs / 1_000}))`;

/**
 * Empties workspaces whose grace is over, for half a minute (contract.md L3).
 * @param onProgress called before each batch
 */
export async function emptyDeletedWorkspaces({
  db,
  graceMs,
  onProgress,
  onError,
}: Watcher & { readonly db: Database; readonly graceMs: number }): Promise<void> {
  const end = performance.now() + ROUND_MS;
  let batches = 0;
  const goesOn = () => {
    onProgress(batches);
    batches += 1;
    return performance.now() < end;
  };
  const deleted = await db
    .selectFrom('workspaces')
    .select('id')
    .where(isOver(graceMs))
    .orderBy('deleted_at')
    .limit(MAX_WORKSPACES)
    .execute();
  const empty = async (id: WorkspaceId) => {
    if (await endGrace(db, id, graceMs)) await emptyWorkspace(db, id, goesOn);
  };
  for (const { id } of deleted) {
    if (!goesOn()) return;
    await empty(id).catch((error: unknown) => {
      // When the worker's end or a cancellation stopped one, the others stop, too.
      onProgress(batches);
      onError(id, error);
    });
  }
}
