import { sql } from 'kysely';
import { countRows } from '../db/count-rows.ts';
import type { Database, Tx } from '../db/database.ts';
import { uniqueViolation } from '../db/errors.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict } from '../errors.ts';
import { type CategoryId, type CategoryNameId, newId, type WorkspaceId } from '../ids.ts';
import { nameKey } from '../name-key.ts';
import { findFreeSlug, slugify } from '../slug.ts';

/** The category whose names are written: at most one per language. */
export interface CategoryKey {
  readonly workspaceId: WorkspaceId;
  readonly categoryId: CategoryId;
}

/** A name of a request: canonical tag, NFC, trimmed, 1 to 80 characters. */
export interface NewName {
  readonly language: string;
  readonly name: string;
}

/** Category names of a workspace in all languages: they are listed without pages. */
const MAX_CATEGORY_NAMES = 20_000;

/**
 * Concurrent additions may exceed the limit slightly: a lock on the workspace would make them wait for image uploads.
 * @throws {ServiceError} CONFLICT `category_limit`
 */
export async function requireRoom(tx: Tx, workspaceId: WorkspaceId, more: number): Promise<void> {
  if (more <= 0) return;
  const count = await countRows(tx, tx.selectFrom('category_names').where('workspace_id', '=', workspaceId));
  if (count + more <= MAX_CATEGORY_NAMES) return;
  throw conflict(
    `The categories of a workspace have at most ${MAX_CATEGORY_NAMES} names in all languages together; remove some first.`,
    'category_limit',
  );
}

/**
 * Runs `work` in a transaction, and again whenever another transaction took a slug that this one had found free. Each
 * such failure means that another transaction committed, so the retries end.
 */
export async function withFreeSlugs<Result>(
  db: Database,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await inTransaction(db, work);
    } catch (error) {
      if (uniqueViolation(error) !== 'category_names_slug_key') throw error;
    }
  }
}

/** A slug for the name that is free in its workspace and language now. */
const chooseSlug = (
  tx: Tx,
  workspaceId: WorkspaceId,
  { language, name }: NewName,
  own: CategoryNameId | null,
): Promise<string> =>
  findFreeSlug(slugify(name, 'category'), async (slugs) => {
    const taken = await tx
      .selectFrom('category_names')
      .select('slug')
      .where('workspace_id', '=', workspaceId)
      .where('language', '=', language)
      .where(sql<boolean>`slug = ANY (${[...slugs]}::text[])`)
      .where((eb) => (own === null ? eb.lit(true) : eb('id', '!=', own)))
      .execute();
    return new Set(taken.map(({ slug }) => slug));
  });

/** Rethrows an error, a taken name as a 409. */
const rethrowNameTaken =
  ({ language, name }: NewName) =>
  (error: unknown): never => {
    if (uniqueViolation(error) !== 'category_names_name_key') throw error;
    throw conflict(`Another category of the workspace is named "${name}" in ${language}.`, 'name_taken');
  };

/**
 * Adds a name in a language that the category has none in. `at` is its time; the transaction's when omitted.
 * @throws {ServiceError} CONFLICT `name_taken`
 */
export async function addName(
  tx: Tx,
  { workspaceId, categoryId }: CategoryKey,
  name: NewName,
  at?: Date,
): Promise<void> {
  await tx
    .insertInto('category_names')
    .values({
      id: newId<CategoryNameId>(),
      workspace_id: workspaceId,
      category_id: categoryId,
      language: name.language,
      name: name.name,
      name_key: nameKey(name.name),
      slug: await chooseSlug(tx, workspaceId, name, null),
      created_at: at,
      updated_at: at,
    })
    .execute()
    .catch(rethrowNameTaken(name));
}

/**
 * Renames. The slug stays, with its suffix, when the new name has the same URL-safe form.
 * @throws {ServiceError} CONFLICT `name_taken`
 */
export async function renameName(
  tx: Tx,
  workspaceId: WorkspaceId,
  old: { readonly id: CategoryNameId; readonly name: string; readonly slug: string },
  name: NewName,
  at: Date,
): Promise<void> {
  const keepsSlug = slugify(old.name, 'category') === slugify(name.name, 'category');
  await tx
    .updateTable('category_names')
    .set({
      name: name.name,
      name_key: nameKey(name.name),
      slug: keepsSlug ? old.slug : await chooseSlug(tx, workspaceId, name, old.id),
      updated_at: at,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', old.id)
    .execute()
    .catch(rethrowNameTaken(name));
}

/** Removes a name, which other categories may then use. */
export async function removeName(tx: Tx, workspaceId: WorkspaceId, id: CategoryNameId): Promise<void> {
  await tx
    .deleteFrom('category_names')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}
