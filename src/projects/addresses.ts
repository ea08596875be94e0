import { sql } from 'kysely';
import { z } from 'zod';
import type { Origin } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { isWebAddress } from '../fields.ts';
import type { ArticleId, ProjectId, TranslationGroupId } from '../ids.ts';

const MAX_ADDRESS_TEMPLATE = 500;

function isAddressTemplate(text: string): boolean {
  const filled = text.replaceAll('{language}', 'en').replaceAll('{slug}', 'a');
  return text.includes('{slug}') && !/[{}]/.test(filled) && isWebAddress(filled);
}

/** Every article needs an address of its own, hence the slug. */
export const addressTemplate = z
  .string()
  .max(MAX_ADDRESS_TEMPLATE, `Expected at most ${MAX_ADDRESS_TEMPLATE} characters.`)
  .refine(
    isAddressTemplate,
    'Expected an http or https URL with {slug}, {language} if wanted, and no other placeholder.',
  )
  .meta({
    description:
      'The address of articles published without a publishedUrl, for links to them. {slug} and {language} stand for theirs.',
    examples: ['https://example.com/{language}/{slug}'],
  });

/** An article whose address appears, changes or goes. */
interface Addressed {
  readonly id: ArticleId;
  readonly project_id: ProjectId;
  readonly translation_group_id: TranslationGroupId;
  readonly published_url: string | null;
}

/**
 * Notes that a PUBLISHED article's address appeared, changed or went away, if it has or had one: articles that link there
 * are checked after the commit.
 */
export async function recordAddressChange(
  tx: Tx,
  { requestId }: Pick<Origin, 'requestId'>,
  article: Addressed,
): Promise<void> {
  await sql`
    INSERT INTO address_changes (workspace_id, project_id, target_id, target_group_id, request_id)
    SELECT workspace_id, id, ${article.id}::uuid, ${article.translation_group_id}::uuid, ${requestId}::text
    FROM projects
    WHERE id = ${article.project_id} AND (${article.published_url !== null} OR address_template IS NOT NULL)`.execute(
    tx,
  );
}

/** The same for all articles of a project that has another address template. */
export async function recordTemplateChange(
  tx: Tx,
  { actor, requestId }: Origin,
  projectId: ProjectId,
): Promise<void> {
  await tx
    .insertInto('address_changes')
    .values({
      workspace_id: actor.workspaceId,
      project_id: projectId,
      target_id: null,
      request_id: requestId,
    })
    .execute();
}
