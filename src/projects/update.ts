import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { z } from 'zod';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { BrandVoiceId, ProjectId, WorkspaceId } from '../ids.ts';
import { recordAddressChange } from './addresses.ts';
import { type Project, projectColumns, toProject, type updateProjectBody } from './schemas.ts';

/**
 * Changes the fields that are given (projects.update), checked on the result. The row is locked before the
 * articles are read, and creating an article takes it in share mode, so no article ends up in a
 * language that is being removed. No event is sent; after another address template, articles that link to others are
 * rendered again.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; INVALID_REQUEST for a primary language that is not among the
 *   languages, or a brand voice that the workspace does not have; CONFLICT `language_in_use` for a removed language that an article has
 */
export async function updateProject(
  context: VerbContext,
  projectId: ProjectId,
  changes: z.output<typeof updateProjectBody>,
): Promise<Project> {
  const { db, actor } = context;
  requirePermissions(actor, 'projects.update');
  return inTransaction(db, async (tx) => {
    const before = await tx
      .selectFrom('projects')
      .select(projectColumns)
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', projectId)
      .forUpdate()
      .executeTakeFirst();
    if (before === undefined) throw notFound('project');
    const languages = [...new Set(changes.languages ?? before.languages)];
    const primaryLanguage = changes.primaryLanguage ?? before.primary_language;
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
    const isArchived = before.archived_at !== null;
    const wanted = {
      name: changes.name ?? before.name,
      languages,
      primaryLanguage,
      addressTemplate: given(changes.addressTemplate, before.address_template),
      heroImageStyle: given(changes.imageSettings?.hero?.style, before.hero_image_style),
      inlineImageStyle: given(changes.imageSettings?.inline?.style, before.inline_image_style),
      defaultBrandVoiceId: given(changes.defaultBrandVoiceId, before.default_brand_voice_id),
      archived: changes.archived ?? isArchived,
    };
    const present = {
      name: before.name,
      languages: before.languages,
      primaryLanguage: before.primary_language,
      addressTemplate: before.address_template,
      heroImageStyle: before.hero_image_style,
      inlineImageStyle: before.inline_image_style,
      defaultBrandVoiceId: before.default_brand_voice_id,
      archived: isArchived,
    };
    if (isDeepStrictEqual(wanted, present)) return toProject(before);
    const after = await tx
      .updateTable('projects')
      .set({
        name: wanted.name,
        languages,
        primary_language: primaryLanguage,
        address_template: wanted.addressTemplate,
        hero_image_style: wanted.heroImageStyle,
        inline_image_style: wanted.inlineImageStyle,
        default_brand_voice_id: wanted.defaultBrandVoiceId,
        ...(wanted.archived === isArchived
          ? {}
          : { archived_at: wanted.archived ? sql<Date>`clock_timestamp()` : null }),
        updated_at: sql<Date>`clock_timestamp()`,
      })
      .where('id', '=', projectId)
      .returning(projectColumns)
      .executeTakeFirstOrThrow();
    if (wanted.addressTemplate !== before.address_template) {
      await recordAddressChange(tx, context, { projectId, targetId: null });
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

/** What a field becomes: null clears it, and without a value it stays. */
const given = <Value>(change: Value | null | undefined, before: Value | null): Value | null =>
  change === undefined ? before : change;

/** A voice that is there stays until the transaction ends. */
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
