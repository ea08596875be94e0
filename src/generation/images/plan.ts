/** Which images a run makes: planned as it is admitted, decided as it begins, described once its text is written. */
import { sql } from 'kysely';
import { MAX_IMAGES } from '../../articles/images.ts';
import type { Database, Tx } from '../../db/database.ts';
import type { ImageStyle } from '../../db/tables.ts';
import { type AssetId, type JobId, newId } from '../../ids.ts';
import type { GenerationConfig } from '../config.ts';
import { writeOptionalPart } from '../optional-part.ts';
import { ofKind, planParts, readParts } from '../parts.ts';
import { articleOf, type WrittenWork } from '../text-parts.ts';
import { readWork, required, type WritingDependencies, type WritingTask } from '../write-part.ts';
import { type ImagePrompt, requestImagePrompts } from '../writing/request-image-prompts.ts';
import { type GenerationImage, readImages } from './images.ts';

/** Words that the prompts count as unpaid work. */
const PROMPTS_WORDS = 300;

/** Plans the images of a run, the cover first, each with the id of its asset. */
export async function planImages(
  tx: Tx,
  jobId: JobId,
  { count, quality }: { readonly count: number; readonly quality: GenerationConfig['imageQuality'] },
): Promise<void> {
  if (count === 0) return;
  await tx
    .insertInto('generation_images')
    .values(
      Array.from({ length: count }, (_, number) => ({
        job_id: jobId,
        number,
        role: number === 0 ? ('hero' as const) : ('inline' as const),
        asset_id: newId<AssetId>(),
        quality,
      })),
    )
    .execute();
}

/**
 * Freezes the styles of a run's images: those of the project before that of the settings (contract.md G101). What it will not
 * make ends here: all of them where no model draws, the cover of an article that has one, and more than an article can have.
 */
export async function freezeImages(db: Database, jobId: JobId, hasModel: boolean): Promise<void> {
  await sql`
    UPDATE generation_images AS image SET
      style = CASE image.role WHEN 'hero' THEN coalesce(project.hero_image_style, generation.config ->> 'imageStyle')
        ELSE coalesce(project.inline_image_style, generation.config ->> 'imageStyle') END,
      state = CASE WHEN decided.reason IS NULL THEN 'planned' ELSE 'failed' END,
      reason = decided.reason
    FROM generations AS generation
    JOIN jobs AS job ON job.id = generation.job_id
    JOIN projects AS project ON project.id = job.project_id
    JOIN generation_images AS own ON own.job_id = job.id
    CROSS JOIN LATERAL (SELECT CASE
      WHEN NOT ${hasModel}::boolean THEN 'no_model'
      WHEN own.role = 'hero' AND EXISTS (
        SELECT FROM assets WHERE article_id = job.article_id AND assets.role = 'hero') THEN 'own_cover'
      WHEN own.role = 'inline' AND own.number + (
        SELECT count(*) FROM assets WHERE article_id = job.article_id AND assets.role = 'inline') > ${MAX_IMAGES}
        THEN 'image_limit' END AS reason) AS decided
    WHERE generation.job_id = ${jobId} AND image.job_id = own.job_id AND image.number = own.number
      AND image.state = 'planned' AND image.style IS NULL AND job.ended_at IS NULL`.execute(db);
}

/** Plans the call for the prompts of a run's images. @returns how many images it is for; 0 for no call */
export async function planImagePrompts(db: Database, jobId: JobId): Promise<number> {
  const images = plannedOf(await readImages(db, jobId));
  if (images.length > 0) {
    const last = (await readParts(db, jobId)).findLast(({ kind }) => kind !== 'imagePrompts')?.part ?? 0;
    await planParts(db, jobId, [{ part: last + 1, kind: 'imagePrompts', words: PROMPTS_WORDS }]);
  }
  return images.length;
}

const plannedOf = (images: readonly GenerationImage[]) => images.filter(({ state }) => state === 'planned');

/** Writes the prompts of all images in one call, unless they are stored. The article does without images where that fails. */
export async function makeImagePrompts(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  const images = plannedOf(await readImages(dependencies.db, task.jobId));
  const inline = images.filter(({ role }) => role === 'inline');
  const styleOf = (role: GenerationImage['role'], brief: WrittenWork['brief']): ImageStyle =>
    images.find((image) => image.role === role)?.style ?? brief.config.imageStyle;
  await writeOptionalPart(dependencies, task, 'imagePrompts', async (writer, work, answered) => {
    const { brief } = work;
    const prompts = await requestImagePrompts(writer, {
      brief,
      article: articleOf({ ...work, outline: required(work.outline) }),
      images: { cover: inline.length < images.length, inline: inline.length },
      styles: { hero: styleOf('hero', brief), inline: styleOf('inline', brief) },
      answered,
      signal: task.signal,
    });
    return { content: { prompts }, words: PROMPTS_WORDS };
  });
}

/** Gives each planned image its prompt, those in the text in the order of the prompts; without one it ends here. */
export async function assignPrompts(db: Database, jobId: JobId): Promise<void> {
  const [part] = ofKind((await readWork(db, jobId)).parts, 'imagePrompts');
  const { prompts = [] } = (part?.content ?? {}) as { readonly prompts?: readonly ImagePrompt[] };
  const left = { hero: ofRole(prompts, 'hero'), inline: ofRole(prompts, 'inline') };
  const assigned = plannedOf(await readImages(db, jobId)).map(({ number, role }) => {
    const prompt = left[role].shift();
    return {
      number,
      state: prompt === undefined ? 'failed' : 'prompted',
      reason: prompt === undefined ? 'no_prompt' : null,
      section: prompt?.sectionId ?? null,
      prompt: prompt?.prompt ?? null,
      alt_text: prompt?.altText ?? null,
      caption: prompt?.caption ?? null,
    };
  });
  await sql`
    UPDATE generation_images AS image SET state = given.state, reason = given.reason, section = given.section,
      prompt = given.prompt, alt_text = given.alt_text, caption = given.caption
    FROM jsonb_to_recordset(${JSON.stringify(assigned)}::jsonb) AS given (number integer, state text, reason text,
      section text, prompt text, alt_text text, caption text)
    WHERE image.job_id = ${jobId} AND image.number = given.number AND image.state = 'planned'`.execute(db);
}

const ofRole = (prompts: readonly ImagePrompt[], role: ImagePrompt['role']): ImagePrompt[] =>
  prompts.filter((prompt) => prompt.role === role);
