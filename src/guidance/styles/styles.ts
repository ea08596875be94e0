import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { clockTimestamp } from '../../db/clock.ts';
import { countRows } from '../../db/count-rows.ts';
import type { Queryable } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict, notFound } from '../../errors.ts';
import type { ProjectId } from '../../ids.ts';
import { lockLanguages } from '../../projects/languages.ts';
import type { Style } from '../../providers/types.ts';
import { MAX_STYLES, type StyleResponse, styleColumns, toStyle } from './schemas.ts';

/** Which style: of a project in a language. */
export interface StylePath {
  readonly projectId: ProjectId;
  readonly language: string;
}

/** How the project speaks in a language; null when nobody has said. */
export async function styleOf(db: Queryable, projectId: ProjectId, language: string): Promise<Style | null> {
  const row = await db
    .selectFrom('translation_styles')
    .select(['formality', 'instructions'])
    .where('project_id', '=', projectId)
    .where('language', '=', language)
    .executeTakeFirst();
  return row ?? null;
}

/** The project's styles, by language (articles.read). */
export async function listStyles({ db, actor }: VerbContext, projectId: ProjectId): Promise<StyleResponse[]> {
  requirePermissions(actor, 'articles.read');
  const rows = await db
    .selectFrom('translation_styles')
    .select(styleColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('project_id', '=', projectId)
    .orderBy(sql`language COLLATE "C"`)
    .execute();
  return rows.map(toStyle);
}

/**
 * Sets how the project speaks in one of its languages (translations.configure).
 * @throws {ServiceError} RESOURCE_NOT_FOUND for a language that is not one of the project's; CONFLICT `styles_full`
 */
export async function putStyle(
  context: VerbContext,
  { projectId, language }: StylePath,
  style: Style,
): Promise<StyleResponse> {
  const { db, actor } = context;
  requirePermissions(actor, 'translations.configure');
  return inTransaction(db, async (tx) => {
    // Whoever sets a style takes turns at the project, so that none is counted too late.
    await tx
      .selectFrom('projects')
      .select('id')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', projectId)
      .forNoKeyUpdate()
      .execute();
    const { languages } = await lockLanguages(tx, actor.workspaceId, projectId);
    if (!languages.includes(language)) throw notFound("language of the project's");
    const row = await tx
      .insertInto('translation_styles')
      .values({ workspace_id: actor.workspaceId, project_id: projectId, language, ...style })
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'language']).doUpdateSet({
          ...style,
          updated_at: clockTimestamp,
        }),
      )
      .returning(styleColumns)
      .executeTakeFirstOrThrow();
    const count = await countRows(
      tx,
      tx.selectFrom('translation_styles').where('project_id', '=', projectId),
    );
    if (count > MAX_STYLES) {
      throw conflict(
        `A project has at most ${MAX_STYLES} styles. Delete those of languages that it no longer has.`,
        'styles_full',
      );
    }
    await recordAudit(tx, context, {
      action: 'translation_styles.set',
      targetType: 'project',
      targetId: projectId,
      details: { language, formality: style.formality, hasInstructions: style.instructions !== null },
    });
    return toStyle(row);
  });
}

/**
 * Removes a style (translations.configure), also one of a language that the project no longer has.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function deleteStyle(context: VerbContext, { projectId, language }: StylePath): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'translations.configure');
  await inTransaction(db, async (tx) => {
    const { numDeletedRows } = await tx
      .deleteFrom('translation_styles')
      .where('workspace_id', '=', actor.workspaceId)
      .where('project_id', '=', projectId)
      .where('language', '=', language)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound('style');
    await recordAudit(tx, context, {
      action: 'translation_styles.deleted',
      targetType: 'project',
      targetId: projectId,
      details: { language },
    });
  });
}
