import { sql } from 'kysely';
import { readAssets } from '../articles/images.ts';
import type { Queryable, Tx } from '../db/database.ts';
import type { Snapshot, SourceAsset } from '../document/translation/source.ts';
import { invalid } from '../errors.ts';
import type { ArticleId, ProjectId, TranslationGroupId, WorkspaceId } from '../ids.ts';
import { JsonText, writeJson } from '../json-text.ts';

export interface LockedSource {
  readonly project_id: ProjectId;
  readonly primary_language: string;
  readonly slug: string;
  readonly languages: string[];
  readonly translation_group_id: TranslationGroupId;
  readonly generating: boolean;
  readonly isEmpty: boolean;
  readonly snapshot: SourceTexts;
}

/** The source's texts and its project's languages. */
export const readTexts = (db: Queryable, workspaceId: WorkspaceId, articleId: ArticleId) =>
  db
    .selectFrom('articles')
    .innerJoin('projects', 'projects.id', 'articles.project_id')
    .select([
      'articles.project_id',
      'articles.primary_language',
      'projects.languages',
      'articles.translation_group_id',
      'articles.title',
      'articles.slug',
      'articles.meta_title',
      'articles.meta_description',
      'articles.target_keywords',
      'articles.secondary_keywords',
      // Never parsed on its way into the job's snapshot.
      sql<string>`articles.document::text`.as('document'),
      sql<boolean>`jsonb_array_length(articles.document -> 'blocks') = 0`.as('is_empty'),
    ])
    .where('articles.workspace_id', '=', workspaceId)
    .where('articles.id', '=', articleId);

type Texts = NonNullable<Awaited<ReturnType<ReturnType<typeof readTexts>['executeTakeFirst']>>>;

/** The translatable content of a source, its body as text: `writeJson` makes a Snapshot of it. */
export type SourceTexts = Omit<Snapshot, 'document'> & { readonly document: JsonText };

export const toSnapshot = (
  texts: Pick<
    Texts,
    'title' | 'meta_title' | 'meta_description' | 'target_keywords' | 'secondary_keywords' | 'document'
  >,
  assets: readonly SourceAsset[],
): SourceTexts => ({
  title: texts.title,
  metaTitle: texts.meta_title,
  metaDescription: texts.meta_description,
  targetKeywords: texts.target_keywords,
  secondaryKeywords: texts.secondary_keywords,
  document: new JsonText(texts.document),
  assets,
});

/** The content of an article as the JSON text of a `Snapshot`; undefined when it was deleted. */
export async function readContent(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: ArticleId,
): Promise<string | undefined> {
  const texts = await readTexts(db, workspaceId, id).executeTakeFirst();
  return texts && writeJson(toSnapshot(texts, await readAssets(db, workspaceId, id)));
}

/**
 * Reads a source article and locks it FOR SHARE until the job that copies it commits. Undefined when the workspace has no
 * such article.
 */
export async function readSource(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
): Promise<LockedSource | undefined> {
  const row = await readTexts(tx, workspaceId, articleId)
    .forShare(['articles', 'projects'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  // A separate statement sees a generation that was committed while this one waited for the lock.
  const generation = await tx
    .selectFrom('jobs')
    .select('id')
    .where('article_id', '=', articleId)
    .where('purpose', 'in', ['generate', 'outline'])
    .where('ended_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return {
    project_id: row.project_id,
    primary_language: row.primary_language,
    slug: row.slug,
    languages: row.languages,
    translation_group_id: row.translation_group_id,
    generating: generation !== undefined,
    isEmpty: row.is_empty,
    snapshot: toSnapshot(row, await readAssets(tx, workspaceId, articleId)),
  };
}

/**
 * Refuses a language that the source cannot be translated into.
 * @throws {ServiceError} INVALID_REQUEST naming `pointer` (contract.md T5)
 */
export function checkTargetLanguage(
  pointer: string,
  target: string,
  source: { primary_language: string; languages: readonly string[] },
): void {
  if (target === source.primary_language) {
    throw invalid(pointer, `The article is already written in ${target}; choose another language.`);
  }
  if (!source.languages.includes(target)) {
    throw invalid(
      pointer,
      `${target} is not one of the project's languages: ${source.languages.join(', ')}.`,
    );
  }
}
