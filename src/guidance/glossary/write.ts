import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { clockTimestamp } from '../../db/clock.ts';
import { countRows } from '../../db/count-rows.ts';
import type { Tx } from '../../db/database.ts';
import { uniqueViolation } from '../../db/errors.ts';
import { lockWorkspace } from '../../db/lock-workspace.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict, type FieldIssue, invalid, notFound, ServiceError } from '../../errors.ts';
import { type GlossaryTermId, newOrderedId, type WorkspaceId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import {
  type GlossaryTermResponse,
  type Imported,
  MAX_TERMS,
  type NewTerm,
  type TermChanges,
  termColumns,
  toTerm,
} from './schemas.ts';

const UNIQUE = 'glossary_terms_key';

function rethrowTaken(error: unknown): never {
  if (uniqueViolation(error) !== UNIQUE) throw error;
  throw conflict('The glossary has this term for these languages already. Change that one.', 'term_taken');
}

/** @throws {ServiceError} CONFLICT `glossary_full` when there are too many */
async function refuseTooMany(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  const count = await countRows(tx, tx.selectFrom('glossary_terms').where('workspace_id', '=', workspaceId));
  if (count <= MAX_TERMS) return;
  throw conflict(
    `A workspace's glossary has at most ${MAX_TERMS} terms; this would make ${count}. Delete some first.`,
    'glossary_full',
  );
}

/**
 * Adds a term (translations.configure).
 * @throws {ServiceError} CONFLICT `term_taken` or `glossary_full`
 */
export async function createTerm(context: VerbContext, term: NewTerm): Promise<GlossaryTermResponse> {
  requirePermissions(context.actor, 'translations.configure');
  const { workspaceId } = context.actor;
  return inTransaction(context.db, async (tx) => {
    await lockWorkspace(tx, context.actor);
    const row = await tx
      .insertInto('glossary_terms')
      .values({
        id: newOrderedId<GlossaryTermId>(),
        workspace_id: workspaceId,
        source_language: term.sourceLanguage,
        target_language: term.targetLanguage,
        source_term: term.source,
        term_key: nameKey(term.source),
        target_term: term.target,
        case_sensitive: term.caseSensitive,
      })
      .returning(termColumns)
      .executeTakeFirstOrThrow();
    await refuseTooMany(tx, workspaceId);
    await recordTerm(tx, context, 'glossary.term_created', row);
    return toTerm(row);
  }).catch(rethrowTaken);
}

/**
 * Changes the given fields of a term (translations.configure).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; INVALID_REQUEST for a target of a term for every language; CONFLICT `term_taken`
 */
export async function updateTerm(
  context: VerbContext,
  id: GlossaryTermId,
  { source, target, caseSensitive }: TermChanges,
): Promise<GlossaryTermResponse> {
  requirePermissions(context.actor, 'translations.configure');
  return inTransaction(context.db, async (tx) => {
    const before = await tx
      .selectFrom('glossary_terms')
      .select('target_language')
      .where('workspace_id', '=', context.actor.workspaceId)
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow(() => notFound('term'));
    if (before.target_language === null && target != null) {
      throw invalid('/target', 'Without targetLanguage a term has no target.');
    }
    const row = await tx
      .updateTable('glossary_terms')
      .set({
        ...(source === undefined ? {} : { source_term: source, term_key: nameKey(source) }),
        ...(target === undefined ? {} : { target_term: target }),
        ...(caseSensitive === undefined ? {} : { case_sensitive: caseSensitive }),
        updated_at: clockTimestamp,
      })
      .where('id', '=', id)
      .returning(termColumns)
      .executeTakeFirstOrThrow();
    await recordTerm(tx, context, 'glossary.term_updated', row);
    return toTerm(row);
  }).catch(rethrowTaken);
}

/**
 * Removes a term (translations.configure).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function deleteTerm(context: VerbContext, id: GlossaryTermId): Promise<void> {
  requirePermissions(context.actor, 'translations.configure');
  await inTransaction(context.db, async (tx) => {
    const row = await tx
      .deleteFrom('glossary_terms')
      .where('workspace_id', '=', context.actor.workspaceId)
      .where('id', '=', id)
      .returning(['id', 'source_language', 'target_language'])
      .executeTakeFirstOrThrow(() => notFound('term'));
    await recordTerm(tx, context, 'glossary.term_deleted', row);
  });
}

const recordTerm = (
  tx: Tx,
  context: VerbContext,
  action: string,
  row: {
    readonly id: GlossaryTermId;
    readonly source_language: string;
    readonly target_language: string | null;
  },
): Promise<void> =>
  recordAudit(tx, context, {
    action,
    targetType: 'glossary_term',
    targetId: row.id,
    details: { sourceLanguage: row.source_language, targetLanguage: row.target_language },
  });

/** @throws {ServiceError} INVALID_REQUEST naming each repeated term */
function refuseRepeats(terms: readonly NewTerm[], keys: readonly string[]): void {
  const first = new Map<string, number>();
  const issues: FieldIssue[] = [];
  for (const [index, { sourceLanguage, targetLanguage }] of terms.entries()) {
    const place = JSON.stringify([sourceLanguage, targetLanguage, keys[index]]);
    const same = first.get(place);
    if (same === undefined) first.set(place, index);
    else issues.push({ pointer: `/terms/${index}/source`, detail: `The same term as /terms/${same}.` });
  }
  if (issues.length > 0) {
    throw new ServiceError('INVALID_REQUEST', 'A term occurs more than once; see errors.', { issues });
  }
}

/**
 * Adds terms and replaces those with the same words and languages, all or none (translations.configure).
 * @throws {ServiceError} INVALID_REQUEST naming repeated terms; CONFLICT `glossary_full`
 */
export async function importTerms(context: VerbContext, terms: readonly NewTerm[]): Promise<Imported> {
  requirePermissions(context.actor, 'translations.configure');
  const { workspaceId } = context.actor;
  const keys = terms.map(({ source }) => nameKey(source));
  refuseRepeats(terms, keys);
  // Lists are newest first, so the last term gets the oldest id.
  const ids = terms.map(() => newOrderedId<GlossaryTermId>()).reverse();
  return inTransaction(context.db, async (tx) => {
    await lockWorkspace(tx, context.actor);
    const { rows } = await sql<{ created: boolean }>`
      INSERT INTO glossary_terms AS term
        (id, workspace_id, source_language, target_language, source_term, term_key, target_term, case_sensitive)
      SELECT id, ${workspaceId}, source_language, target_language, source_term, term_key, target_term, case_sensitive
      FROM unnest(
        ${ids}::uuid[],
        ${terms.map((term) => term.sourceLanguage)}::text[],
        ${terms.map((term) => term.targetLanguage)}::text[],
        ${terms.map((term) => term.source)}::text[],
        ${keys}::text[],
        ${terms.map((term) => term.target)}::text[],
        ${terms.map((term) => term.caseSensitive)}::boolean[]
      ) AS given (id, source_language, target_language, source_term, term_key, target_term, case_sensitive)
      ON CONFLICT ON CONSTRAINT glossary_terms_key DO UPDATE SET
        source_term = excluded.source_term, target_term = excluded.target_term,
        case_sensitive = excluded.case_sensitive, updated_at = clock_timestamp()
      WHERE (term.source_term, term.target_term, term.case_sensitive)
        IS DISTINCT FROM (excluded.source_term, excluded.target_term, excluded.case_sensitive)
      RETURNING term.id = ANY (${ids}::uuid[]) AS created`.execute(tx);
    await refuseTooMany(tx, workspaceId);
    const created = rows.filter((row) => row.created).length;
    const updated = rows.length - created;
    const imported = { created, updated, unchanged: terms.length - rows.length };
    await recordAudit(tx, context, {
      action: 'glossary.imported',
      targetType: 'glossary',
      targetId: null,
      details: imported,
    });
    return imported;
  });
}
