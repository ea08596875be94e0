import { clockTimestamp } from '../../db/clock.ts';
import type { Queryable, Tx } from '../../db/database.ts';
import { addTerms, type StyleSheet, type TermPair } from '../../document/translation/style-sheet.ts';
import type { ArticleId, WorkspaceId } from '../../ids.ts';

/** A version's sheet as it is stored. */
export interface SheetRow {
  readonly sheet: StyleSheet;
  readonly updated_at: Date;
  readonly language: string;
}

/** The sheet of a version of the workspace, with the version's language. */
export const findSheet = (db: Queryable, workspaceId: WorkspaceId, articleId: ArticleId) =>
  db
    .selectFrom('article_style_sheets as sheets')
    .innerJoin('articles', 'articles.id', 'sheets.article_id')
    .select(['sheets.sheet', 'sheets.updated_at', 'articles.primary_language as language'])
    .where('sheets.workspace_id', '=', workspaceId)
    .where('sheets.article_id', '=', articleId);

/** Writes a sheet that the caller's transaction has locked. */
export const writeSheet = (tx: Tx, articleId: ArticleId, sheet: StyleSheet) =>
  tx
    .updateTable('article_style_sheets')
    .set({ sheet: JSON.stringify(sheet), updated_at: clockTimestamp })
    .where('article_id', '=', articleId)
    .returning('updated_at')
    .executeTakeFirstOrThrow();

/** Stores the sheet of a version that has none; one that has a sheet keeps it, with the new terms (contract.md V47). */
export async function growSheet(
  tx: Tx,
  version: { readonly id: ArticleId; readonly workspace_id: WorkspaceId },
  sheet: StyleSheet,
  terms: readonly TermPair[],
): Promise<void> {
  const added = await tx
    .insertInto('article_style_sheets')
    .values({ article_id: version.id, workspace_id: version.workspace_id, sheet: JSON.stringify(sheet) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('article_id')
    .executeTakeFirst();
  if (added !== undefined) return;
  const present = await findSheet(tx, version.workspace_id, version.id)
    .forUpdate('sheets')
    .executeTakeFirst();
  if (present === undefined) return;
  const grown = addTerms(present.sheet, terms);
  if (grown.terms.length > present.sheet.terms.length) await writeSheet(tx, version.id, grown);
}
