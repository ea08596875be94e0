/** The row of a paid operation. It is opened and ended, once, together with its hold. */
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
  /** The article, project or category. */
  readonly targetId: string;
  /** The requested languages of names; none for suggestions. */
  readonly languages?: readonly string[];
  /** The credits held: the most that is charged. */
  readonly credits: number;
  readonly audit: Pick<AuditRecord, 'action' | 'targetType'>;
}

/** A reserved operation whose run can be started. */
export interface ReservedOperation {
  readonly id: AiOperationId;
  readonly kind: AiOperationKind;
  readonly workspaceId: WorkspaceId;
  readonly targetId: string;
  readonly credits: number;
}

/** An operation with an open hold, as the activity `ask` needs it. */
export interface OpenOperation {
  readonly workspaceId: WorkspaceId;
  readonly kind: AiOperationKind;
  readonly targetId: string;
  readonly languages: readonly string[];
  /** The result stored by an earlier attempt. */
  readonly result: Suggestions | null;
}

/**
 * Reserves an operation in the caller's transaction, after its checks: row, audit entry, hold, month's count, and the
 * wallet last, so that rows shared by all requests are locked briefly.
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

/** Marks an operation whose model request is about to be sent. */
export interface RequestMark {
  /** Whether it was marked before. */
  readonly again: boolean;
  /** Unique to this attempt. */
  readonly mark: Date;
}

/**
 * Marks the operation before its model request. From then on it counts toward the month.
 * @returns null when the operation has ended: no model may be called
 */
export async function markRequested(db: Database, id: AiOperationId): Promise<RequestMark | null> {
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
 * Removes an attempt's mark when its request certainly reached no model. A later attempt's mark stays, because its request
 * may be in progress.
 */
export async function unmarkRequested(db: Database, id: AiOperationId, mark: Date): Promise<void> {
  await db
    .updateTable('ai_operations')
    .set({ asked_at: null })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .where('result', 'is', null)
    .where('asked_at', '=', mark)
    .execute();
}

/** Stores the suggestions from the model's response. @returns false when the operation has already ended */
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
 * Settles the operation with its stored result and charges for it, at most the held credits, in one transaction.
 * @returns false, without a change, when the operation had already ended
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
 * Ends an open operation without a charge: `empty` when nothing usable came back, `failed` without a response. The month's
 * count is decremented only when no model was called. Parts that fail are reported to `onLeftOver`: `reconcile` releases
 * a hold later, a month's count stays one too high.
 * @returns false, without a change, when it had already ended
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
    // Last, because releaseHold locks the wallet.
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

/** How the operation ended, or null while it is open. Failed when its workspace was deleted. */
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
