/** The row of a paid operation: opened with its hold, ended together with it, once. */
import { sql } from 'kysely';
import { type AuditRecord, recordAudit } from '../audit/record.ts';
import type { VerbContext } from '../context.ts';
import { MissingHoldError, releaseHold, settleHold } from '../credits/holds.ts';
import { uncountOperation } from '../credits/operations-quota.ts';
import { reserve } from '../credits/reserve.ts';
import type { Database, Tx } from '../db/database.ts';
import { inSavepoint, type OnLeftOver } from '../db/savepoint.ts';
import type { AiOperationKind, Suggestions } from '../db/suggestions.ts';
import { inTransaction } from '../db/transaction.ts';
import { type AiOperationId, newId, type WorkspaceId } from '../ids.ts';
import { aiOperationWorkflowId } from '../temporal/ids.ts';
import { priceOf } from './price.ts';

export interface NewOperation {
  readonly kind: AiOperationKind;
  /** The article, project or category it is about. */
  readonly targetId: string;
  /** The languages that names are asked for; none for suggestions. */
  readonly languages?: readonly string[];
  /** What is held: the most that is charged when something usable comes back. */
  readonly credits: number;
  readonly audit: Pick<AuditRecord, 'action' | 'targetType'>;
}

/** An operation that was reserved and whose run can be started. */
export interface ReservedOperation {
  readonly id: AiOperationId;
  readonly kind: AiOperationKind;
  readonly workspaceId: WorkspaceId;
  readonly targetId: string;
  readonly credits: number;
}

/** An operation whose hold is open, as `ask` needs it. */
export interface OpenOperation {
  readonly workspaceId: WorkspaceId;
  readonly kind: AiOperationKind;
  readonly targetId: string;
  readonly languages: readonly string[];
  /** What an earlier attempt has stored already. */
  readonly result: Suggestions | null;
}

/**
 * Reserves an operation in the caller's transaction, after all of its own checks: the row, the audit entry,
 * the hold, the month's count, and the wallet last, so that rows shared by all requests are locked briefly.
 * @throws {ServiceError} INSUFFICIENT_CREDITS, before QUOTA_EXCEEDED
 */
export async function reserveOperation(
  tx: Tx,
  context: VerbContext,
  { kind, targetId, languages = [], credits, audit }: NewOperation,
): Promise<ReservedOperation> {
  const { workspaceId } = context.actor;
  const id = newId<AiOperationId>();
  const { quota_month } = await tx
    .insertInto('ai_operations')
    .values({
      id,
      workspace_id: workspaceId,
      kind,
      target_id: targetId,
      languages: [...languages],
      credits,
      quota_month: sql<string>`to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')`,
      workflow_id: aiOperationWorkflowId(id),
      request_id: context.requestId,
    })
    .returning('quota_month')
    .executeTakeFirstOrThrow();
  await recordAudit(tx, context, {
    ...audit,
    targetId,
    details: { operationId: id, reservedCredits: credits, ...(languages.length > 0 ? { languages } : {}) },
  });
  await reserve(tx, { workspaceId, purpose: 'ai_operation', runId: id, credits, month: quota_month });
  return { id, kind, workspaceId, targetId, credits };
}

/** The operation, or null when it or its hold has ended. */
export async function findOpenOperation(db: Database, id: AiOperationId): Promise<OpenOperation | null> {
  const row = await db
    .selectFrom('ai_operations as operation')
    .innerJoin('holds', 'holds.run_id', 'operation.id')
    .select(['operation.workspace_id', 'operation.kind', 'operation.target_id', 'operation.languages'])
    .select('operation.result')
    .where('operation.id', '=', id)
    .where('operation.status', '=', 'open')
    .where('holds.status', '=', 'open')
    .executeTakeFirst();
  if (row === undefined) return null;
  const { workspace_id: workspaceId, target_id: targetId, ...rest } = row;
  return { workspaceId, targetId, ...rest };
}

/** The mark that a model is about to be asked. */
export interface Asking {
  /** Whether it had been marked before. */
  readonly again: boolean;
  /** Of this attempt alone: the next one has another. */
  readonly mark: Date;
}

/**
 * Marks that a model is about to be called: from now on the operation counts toward the month, whatever
 * happens.
 * @returns null when the operation has ended, and no model may be called
 */
export async function markAsked(db: Database, id: AiOperationId): Promise<Asking | null> {
  return inTransaction(db, async (tx) => {
    const before = await tx
      .selectFrom('ai_operations')
      .select('asked_at')
      .where('id', '=', id)
      .where('status', '=', 'open')
      .forUpdate()
      .executeTakeFirst();
    if (before === undefined) return null;
    const { mark } = await tx
      .updateTable('ai_operations')
      .set({
        asked_at: sql<Date>`greatest(clock_timestamp(), asked_at + interval '1 millisecond')`,
      })
      .where('id', '=', id)
      .returning(sql<Date>`asked_at`.as('mark'))
      .executeTakeFirstOrThrow();
    return { again: before.asked_at !== null, mark };
  });
}

/**
 * Removes an attempt's mark when it is certain that it reached no model. A mark that a later attempt has set in
 * its place stays: that one may be talking to the model.
 */
export async function unmarkAsked(db: Database, id: AiOperationId, mark: Date): Promise<void> {
  await db
    .updateTable('ai_operations')
    .set({ asked_at: null })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .where('result', 'is', null)
    .where('asked_at', '=', mark)
    .execute();
}

/** Stores the outcome of the model's answer. @returns false when the operation has already ended */
export async function storeResult(
  db: Database,
  id: AiOperationId,
  suggestions: Suggestions,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('ai_operations')
    .set({ result: JSON.stringify(suggestions) })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Makes the stored result final and charges for it, never more than was held, in one transaction.
 * @returns false when the operation had ended before; nothing is changed then
 * @throws {MissingHoldError} when an open operation has no open hold
 */
export async function settleOperation(db: Database, id: AiOperationId): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const operation = await tx
      .updateTable('ai_operations')
      .set((eb) => ({ status: 'settled', ended_at: eb.fn('now') }))
      .where('id', '=', id)
      .where('status', '=', 'open')
      .returning(['credits', 'result'])
      .executeTakeFirst();
    if (operation === undefined) return false;
    const { credits: held, result } = operation;
    const credits = result === null ? held : Math.min(held, priceOf(result));
    if (credits < held) {
      await tx.updateTable('ai_operations').set({ credits }).where('id', '=', id).execute();
    }
    if (!(await settleHold(tx, id, credits))) {
      throw new MissingHoldError(`AI operation ${id} is open without a hold`);
    }
    return true;
  });
}

/**
 * Ends an open operation without a charge: `empty` when nothing usable came back, `failed` when no answer
 * came at all. The month's count is given back only when no model was called. A part that fails is reported to
 * `onLeftOver`: a hold is found by `reconcile`, a month's count stays one too high.
 * @returns false when it had ended before; nothing is changed then
 */
export async function releaseOperation(
  db: Database,
  id: AiOperationId,
  status: 'empty' | 'failed',
  onLeftOver: OnLeftOver,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const operation = await tx
      .updateTable('ai_operations')
      .set((eb) => ({ status, result: null, ended_at: eb.fn('now') }))
      .where('id', '=', id)
      .where('status', '=', 'open')
      .returning(['workspace_id', 'quota_month', 'asked_at'])
      .executeTakeFirst();
    if (operation === undefined) return false;
    // The wallet, which releaseHold locks, comes last.
    if (operation.asked_at === null) {
      const uncounted = () => uncountOperation(tx, operation.workspace_id, operation.quota_month);
      await inSavepoint(tx, uncounted, (error) => onLeftOver(`month's count of AI operation ${id}`, error));
    }
    const released = () => releaseHold(tx, id);
    await inSavepoint(tx, released, (error) => onLeftOver(`hold of AI operation ${id}`, error));
    return true;
  });
}

export type OperationEnd =
  | { readonly status: 'settled'; readonly suggestions: Suggestions; readonly credits: number }
  | { readonly status: 'empty' | 'failed' };

/** How the operation ended, or null while it is open. One whose workspace is gone counts as failed. */
export async function readEnd(db: Database, id: AiOperationId): Promise<OperationEnd | null> {
  const row = await db
    .selectFrom('ai_operations')
    .select(['status', 'result', 'credits'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return { status: 'failed' };
  if (row.status === 'open') return null;
  return row.status === 'settled' && row.result !== null
    ? { status: 'settled', suggestions: row.result, credits: row.credits }
    : { status: row.status === 'empty' ? 'empty' : 'failed' };
}
