import { sql } from 'kysely';
import type { Queryable } from '../db/database.ts';
import { dropDeadLinks } from '../document/links.ts';
import type { DocumentJson } from '../document/schema.ts';
import { countWords } from '../document/words.ts';
import { invalid } from '../errors.ts';
import type { ArticleId } from '../ids.ts';

/** A body as it is stored. */
export interface Content {
  readonly document: DocumentJson;
  readonly words: number;
}

/** The body with its dead links dropped and its words counted (interface.md, Document format 2). */
export function toContent(document: DocumentJson): Content {
  // As Postgres will give it back: without the absent optional fields of the validated form.
  const plain = JSON.parse(JSON.stringify(dropDeadLinks(document))) as DocumentJson;
  return { document: plain, words: countWords(plain) };
}

/**
 * The hero is the cover and cannot be added to the body (interface.md, Document format 5).
 * @throws {ServiceError} INVALID_REQUEST naming the block
 */
export async function refuseHeroInBody(
  db: Queryable,
  articleId: ArticleId,
  { blocks }: DocumentJson,
): Promise<void> {
  if (!blocks.some((block) => block.type === 'image')) return;
  const hero = await db
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', articleId)
    .where('role', '=', 'hero')
    .executeTakeFirst();
  if (hero === undefined) return;
  const index = blocks.findIndex((block) => block.type === 'image' && block.assetId === hero.id);
  if (index === -1) return;
  throw invalid(
    `/documentJson/blocks/${index}/assetId`,
    "This is the article's hero, its cover; it cannot be part of the body.",
  );
}

/** The time of a write, read when it happens: a save that waited for another never gets the earlier time. */
export const writtenNow = sql<Date>`clock_timestamp()`;
