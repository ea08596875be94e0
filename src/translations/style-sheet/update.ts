import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { DECISIONS, foldTerm, type StyleSheet, valuesFor } from '../../document/translation/style-sheet.ts';
import { invalid, notFound } from '../../errors.ts';
import { etagOfJson, requireIfMatch, requireTag } from '../../http/etag.ts';
import type { ArticleId } from '../../ids.ts';
import { findSheet, type SheetRow, writeSheet } from './queries.ts';
import type { SheetChanges, StyleSheetResponse } from './schemas.ts';

/** A sheet as it is sent, with its entity tag. */
export interface ShownSheet {
  readonly styleSheet: StyleSheetResponse;
  readonly tag: string;
}

/** The tag covers what can be changed. */
function show({ sheet, language, updated_at }: SheetRow): ShownSheet {
  const decisions = Object.fromEntries(
    DECISIONS.map((decision) => [decision, sheet[decision]]),
  ) as unknown as Omit<StyleSheet, 'terms'>;
  const terms = sheet.terms.map(({ source, target }) => ({ source, target }));
  const shown = { ...decisions, terms };
  return {
    styleSheet: { language, ...shown, updatedAt: updated_at.toISOString() },
    tag: etagOfJson(JSON.stringify(shown)),
  };
}

const noSheet = () => notFound('style sheet');

/**
 * The style sheet of a version (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND before one is drawn
 */
export async function readStyleSheet({ db, actor }: VerbContext, articleId: ArticleId): Promise<ShownSheet> {
  requirePermissions(actor, 'articles.read');
  return show(await findSheet(db, actor.workspaceId, articleId).executeTakeFirstOrThrow(noSheet));
}

/**
 * Changes the style sheet of a version (articles.update); jobs that are planned from then on go by it.
 * @param ifMatch the If-Match header: the tag of the sheet that the change is based on
 * @throws {ServiceError} RESOURCE_NOT_FOUND before one is drawn; PRECONDITION_FAILED; INVALID_REQUEST without a tag, and
 *   for a value that the version's language does not have
 */
export async function updateStyleSheet(
  context: VerbContext,
  articleId: ArticleId,
  changes: SheetChanges,
  ifMatch: string | undefined,
): Promise<ShownSheet> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  const named = requireIfMatch(ifMatch, 'style sheet');
  return inTransaction(db, async (tx) => {
    const row = await findSheet(tx, actor.workspaceId, articleId)
      .forUpdate('sheets')
      .executeTakeFirstOrThrow(noSheet);
    const before = show(row);
    requireTag(named, 'style sheet', (tag) => tag === before.tag);
    refuseUnfit(changes, row.language);
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    const sheet: StyleSheet = { ...row.sheet, ...Object.fromEntries(given) };
    const after = show({ ...row, sheet });
    if (after.tag === before.tag) return before;
    const { updated_at } = await writeSheet(tx, articleId, sheet);
    await recordAudit(tx, context, {
      action: 'style_sheets.updated',
      targetType: 'article',
      targetId: articleId,
      details: { fields: given.map(([field]) => field) },
    });
    return show({ ...row, sheet, updated_at });
  });
}

/** @throws {ServiceError} INVALID_REQUEST for a value that the language does not have, or a term that is there twice */
function refuseUnfit(changes: SheetChanges, language: string): void {
  for (const decision of DECISIONS) {
    const value = changes[decision] ?? null;
    const values = valuesFor(decision, language);
    if (value === null || values.includes(value)) continue;
    const expected = values.length === 0 ? 'null' : `null or one of ${values.join(', ')}`;
    throw invalid(`/${decision}`, `Expected ${expected} for a version in ${language}.`);
  }
  const known = new Set<string>();
  for (const [place, { source }] of (changes.terms ?? []).entries()) {
    const key = foldTerm(source);
    if (known.has(key)) throw invalid(`/terms/${place}/source`, 'Expected each term once.');
    known.add(key);
  }
}
