import { z } from 'zod';
import type { Origin } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { isWebAddress } from '../fields.ts';
import type { ArticleId, ProjectId } from '../ids.ts';

const MAX_ADDRESS_TEMPLATE = 500;

/** What an article's address is made of. */
interface Placed {
  readonly language: string;
  readonly slug: string;
}

/** The address of an article, by the template of its project. */
export const fillAddress = (template: string, { language, slug }: Placed): string =>
  template.replaceAll('{language}', language).replaceAll('{slug}', slug);

function isAddressTemplate(text: string): boolean {
  const filled = fillAddress(text, { language: 'en', slug: 'a' });
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

/**
 * Notes that the address of an article, or of all in a project, appeared, changed or went away: the articles that link
 * there are rendered again after the commit.
 * @param change.targetId null for all articles of the project
 */
export async function recordAddressChange(
  tx: Tx,
  { actor, requestId }: Origin,
  change: { readonly projectId: ProjectId; readonly targetId: ArticleId | null },
): Promise<void> {
  await tx
    .insertInto('address_changes')
    .values({
      workspace_id: actor.workspaceId,
      project_id: change.projectId,
      target_id: change.targetId,
      request_id: requestId,
    })
    .execute();
}
