import type { z } from 'zod';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { countRows } from '../db/count-rows.ts';
import { lockWorkspace } from '../db/lock-workspace.ts';
import { inTransaction } from '../db/transaction.ts';
import { invalid, ServiceError } from '../errors.ts';
import { newId, type ProjectId } from '../ids.ts';
import { type createProjectBody, MAX_PROJECT_LANGUAGES } from './schemas.ts';

/** Projects per workspace: their list has no pages (contract.md R16). */
const MAX_PROJECTS = 1_000;

/**
 * Creates a project in the actor's workspace (projects.create).
 * @throws {ServiceError} INVALID_REQUEST without a language, with more than 100, or when the primary
 * language is not among them; QUOTA_EXCEEDED beyond 1,000 projects
 */
export async function createProject(
  context: VerbContext,
  input: z.output<typeof createProjectBody>,
): Promise<ProjectId> {
  const { db, actor } = context;
  requirePermissions(actor, 'projects.create');
  const { name, primaryLanguage, addressTemplate } = input;
  const languages = [...new Set(input.languages)];
  if (languages.length === 0 || languages.length > MAX_PROJECT_LANGUAGES) {
    throw invalid('/languages', `A project has 1 to ${MAX_PROJECT_LANGUAGES} languages.`);
  }
  if (!languages.includes(primaryLanguage)) {
    throw invalid(
      '/primaryLanguage',
      `The primary language ${primaryLanguage} is not one of the project's languages: ${languages.join(', ')}.`,
    );
  }
  const id = newId<ProjectId>();
  await inTransaction(db, async (tx) => {
    await lockWorkspace(tx, actor);
    const projects = tx.selectFrom('projects').where('workspace_id', '=', actor.workspaceId);
    if ((await countRows(tx, projects)) >= MAX_PROJECTS) {
      throw new ServiceError(
        'QUOTA_EXCEEDED',
        `A workspace has at most ${MAX_PROJECTS.toLocaleString('en')} projects. Delete one first.`,
      );
    }
    await tx
      .insertInto('projects')
      .values({
        id,
        workspace_id: actor.workspaceId,
        name,
        languages,
        primary_language: primaryLanguage,
        address_template: addressTemplate ?? null,
      })
      .execute();
    await recordAudit(tx, context, {
      action: 'projects.created',
      targetType: 'project',
      targetId: id,
      details: { name, languages, primaryLanguage, addressTemplate },
    });
  });
  return id;
}
