import { lockAndChooseSlug } from '../articles/insert.ts';
import { storeLinks } from '../articles/links/store.ts';
import { articleChanged } from '../articles/queries.ts';
import { renderingColumns } from '../articles/rendering.ts';
import { replaceContent } from '../articles/revisions/replace-content.ts';
import type { Author } from '../context.ts';
import type { Tx } from '../db/database.ts';
import type { Changed } from '../document/tasks/refresh.ts';
import { bytesOf } from '../document/translation/source.ts';
import type { ArticleId } from '../ids.ts';
import type { JobTarget } from '../jobs/run-state.ts';
import { namedSlug, slugOfTranslation } from '../slug.ts';
import { addImages } from './add-images.ts';
import { keepProvenance } from './provenance.ts';

/**
 * Writes a first translation into its locked draft, which then waits for review.
 * @returns by how many bytes its images have grown
 */
export async function fillDraft(
  tx: Tx,
  author: Author,
  draft: JobTarget,
  from: { readonly sourceId: ArticleId; readonly isSourceGone: boolean },
  { fields, body, addImages: images, decided }: Changed,
): Promise<number> {
  const sourceId = from.isSourceGone ? null : from.sourceId;
  const notAdded = await addImages(tx, draft, images);
  await replaceContent(tx, draft.id, author.actor)
    .set({
      ...renderingColumns(body.rendered),
      is_translation: true,
      title: fields.title,
      slug: await slugFor(tx, draft, sourceId, fields.title),
      made_title: null,
      made_slug: null,
      status: 'NEEDS_REVIEW',
      document: body.stored.json,
      meta_title: fields.metaTitle,
      meta_description: fields.metaDescription,
      target_keywords: [...fields.targetKeywords],
      secondary_keywords: [...fields.secondaryKeywords],
      word_count: body.stored.words,
      ...articleChanged,
    })
    .execute();
  await storeLinks(tx, author, draft.id, null, body.rendered.places);
  await keepProvenance(tx, draft, sourceId, decided);
  return bytesOf(images) - notAdded;
}

/** The slug of the translated title, unless a person has set another. Without a title or source to make it from it stays. */
async function slugFor(
  tx: Tx,
  { id, project_id }: JobTarget,
  sourceId: ArticleId | null,
  title: string,
): Promise<string> {
  const rows = await tx
    .selectFrom('articles')
    .select(['id', 'slug', 'made_slug', 'primary_language'])
    .where('id', 'in', sourceId === null ? [id] : [sourceId, id])
    .execute();
  const draft = rows.find((row) => row.id === id);
  if (draft === undefined) throw new Error(`draft ${id} is gone`);
  const { slug, made_slug: made, primary_language: language } = draft;
  if (slug !== made) return slug;
  const source = rows.find((row) => row.id === sourceId)?.slug;
  const base = source === undefined ? (namedSlug(title) ?? slug) : slugOfTranslation(title, source, language);
  return lockAndChooseSlug(tx, { projectId: project_id, language, except: id }, base);
}
