import type { Tx } from '../db/database.ts';
import { invalid, notFound } from '../errors.ts';
import type { ProjectId, WorkspaceId } from '../ids.ts';

/** A project's languages, locked until the caller's transaction ends. */
export interface LockedLanguages {
  readonly languages: readonly string[];
  readonly primaryLanguage: string;
}

/**
 * Reads the languages FOR SHARE, so that none is removed while an article in it is created.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function lockLanguages(
  tx: Tx,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
): Promise<LockedLanguages> {
  const row = await tx
    .selectFrom('projects')
    .select(['languages', 'primary_language'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirstOrThrow(() => notFound('project'));
  return { languages: row.languages, primaryLanguage: row.primary_language };
}

/** @throws {ServiceError} INVALID_REQUEST naming the field when the language is not one of the project's */
export function requireProjectLanguage(
  pointer: string,
  language: string,
  { languages }: Pick<LockedLanguages, 'languages'>,
): void {
  if (languages.includes(language)) return;
  throw invalid(
    pointer,
    `The language ${language} is not one of the project's languages: ${languages.join(', ')}.`,
  );
}
