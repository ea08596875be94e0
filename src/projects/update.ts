import type { z } from 'zod';
import { recordAudit } from '../audit/record.ts';
import { applyChanges } from '../changes.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { BrandVoiceId, ProjectId, WorkspaceId } from '../ids.ts';
import { recordTemplateChange } from './addresses.ts';
import {
  type Project,
  type ProjectRow,
  projectColumns,
  toProject,
  type updateProjectBody,
} from './schemas.ts';

/**
 * Changes the given fields (projects.update) and validates the result. Locks the row before it reads the articles; creating
 * an article locks it in share mode, so that no article ends up in a removed language. Emits nothing. A new address
 * template lists the articles with links for a check.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; INVALID_REQUEST for a primary language that is not among the languages, or an
 *   unknown brand voice; CONFLICT `language_in_use` for a removed language that an article has
 */
export async function updateProject(
  context: VerbContext,
  projectId: ProjectId,
  changes: z.output<typeof updateProjectBody>,
): Promise<Project> {
  const { db, actor } = context;
  requirePermissions(actor, 'projects.update');
  return inTransaction(db, async (tx) => {
    const row = await tx
      .selectFrom('projects')
      .select(projectColumns)
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', projectId)
      .where('deleted_at', 'is', null)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('project'));
    const before = settingsOf(row);
    const { after: wanted, changed } = applyChanges(before, {
      name: changes.name,
      languages: changes.languages && [...new Set(changes.languages)],
      primaryLanguage: changes.primaryLanguage,
      addressTemplate: changes.addressTemplate,
      heroImageStyle: changes.imageSettings?.hero?.style,
      inlineImageStyle: changes.imageSettings?.inline?.style,
      citations: changes.citations,
      defaultBrandVoiceId: changes.defaultBrandVoiceId,
      archived: changes.archived,
    });
    const { languages, primaryLanguage, archived } = wanted;
    if (!languages.includes(primaryLanguage)) {
      throw invalid(
        changes.primaryLanguage === undefined ? '/languages' : '/primaryLanguage',
        `The primary language ${primaryLanguage} is not one of the project's languages: ${languages.join(', ')}.`,
      );
    }
    await requireVoice(tx, actor.workspaceId, changes.defaultBrandVoiceId);
    await refuseUsedLanguages(
      tx,
      projectId,
      before.languages.filter((language) => !languages.includes(language)),
    );
    if (changed.length === 0) return toProject(row);
    const after = await tx
      .updateTable('projects')
      .set({
        name: wanted.name,
        languages,
        primary_language: primaryLanguage,
        address_template: wanted.addressTemplate,
        hero_image_style: wanted.heroImageStyle,
        inline_image_style: wanted.inlineImageStyle,
        citations: wanted.citations,
        default_brand_voice_id: wanted.defaultBrandVoiceId,
        ...(archived === before.archived ? {} : { archived_at: archived ? clockTimestamp : null }),
        updated_at: clockTimestamp,
      })
      .where('id', '=', projectId)
      .returning(projectColumns)
      .executeTakeFirstOrThrow();
    if (changed.includes('addressTemplate')) {
      await recordTemplateChange(tx, context, projectId);
    }
    await recordAudit(tx, context, {
      action: 'projects.updated',
      targetType: 'project',
      targetId: projectId,
      details: wanted,
    });
    return toProject(after);
  });
}

/** A project's settings, in the form of audit details. */
const settingsOf = (row: ProjectRow) => ({
  name: row.name,
  languages: row.languages,
  primaryLanguage: row.primary_language,
  addressTemplate: row.address_template,
  heroImageStyle: row.hero_image_style,
  inlineImageStyle: row.inline_image_style,
  citations: row.citations,
  defaultBrandVoiceId: row.default_brand_voice_id,
  archived: row.archived_at !== null,
});

/** Locks the voice until the transaction ends. */
async function requireVoice(
  tx: Tx,
  workspaceId: WorkspaceId,
  id: BrandVoiceId | null | undefined,
): Promise<void> {
  if (id === null || id === undefined) return;
  const voice = await tx
    .selectFrom('brand_voices')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst();
  if (voice === undefined) {
    throw invalid('/defaultBrandVoiceId', 'The workspace has no brand voice with this id.');
  }
}

async function refuseUsedLanguages(tx: Tx, projectId: ProjectId, removed: readonly string[]): Promise<void> {
  if (removed.length === 0) return;
  const used = await tx
    .selectFrom('articles')
    .select('primary_language')
    .distinct()
    .where('project_id', '=', projectId)
    .where('primary_language', 'in', removed)
    .orderBy('primary_language')
    .execute();
  if (used.length === 0) return;
  const list = used.map((row) => row.primary_language).join(', ');
  throw conflict(
    `The project has articles in ${list}. Delete them before removing the language.`,
    'language_in_use',
  );
}
