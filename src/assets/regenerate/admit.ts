import { lockArticle } from '../../articles/lock.ts';
import type { ArticleRow } from '../../articles/queries.ts';
import type { ArticleResponse } from '../../articles/schemas.ts';
import { showArticle } from '../../articles/show.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { walletOf } from '../../credits/wallet.ts';
import type { Queryable, Tx } from '../../db/database.ts';
import type { ImageStyle } from '../../db/tables.ts';
import { conflict, invalid, notFound } from '../../errors.ts';
import { type Queued, queueGeneration } from '../../generation/admit.ts';
import { generationConfigSchema } from '../../generation/config.ts';

import { imageCredits } from '../../generation/price.ts';
import type { ArticleId, AssetId } from '../../ids.ts';
import { admitJob, type Replayed } from '../../jobs/admit.ts';
import { toJob } from '../../jobs/queries.ts';
import type { JobRuns } from '../../jobs/runs.ts';
import type { Job } from '../../jobs/schemas.ts';
import { MAX_GENERATED_BYTES } from '../../media/limits.ts';
import { imageWorkflowId } from '../../temporal/ids.ts';
import { findAsset } from '../read.ts';
import type { AssetRow } from '../schemas.ts';
import type { ImageQuality, RegenerationEstimate } from './schemas.ts';

/** A job that regenerates an image draws one. */
export const ONLY_IMAGE = 0;

export interface RegenerationContext extends VerbContext {
  readonly runs: JobRuns;
  /** Whether this deployment has a model that draws. */
  readonly canDraw: boolean;
}

export interface Regenerate {
  readonly articleId: ArticleId;
  readonly assetId: AssetId;
  readonly prompt?: string | undefined;
  readonly quality?: ImageQuality | undefined;
  readonly idempotencyKey?: string | undefined;
}

export type Regenerated =
  | { reused: false; article: ArticleResponse; job: Job; estimate: RegenerationEstimate }
  | Replayed;

const SETTINGS = generationConfigSchema.pick({ imageQuality: true, imageStyle: true });

/** The settings of images that the article was last generated with, or their defaults. */
const settingsOf = (generationConfig: string | null) =>
  SETTINGS.safeParse(JSON.parse(generationConfig ?? '{}')).data ?? SETTINGS.parse({});

const estimateOf = (quality: ImageQuality): RegenerationEstimate => ({
  quality,
  total: imageCredits(quality),
});

/**
 * Price of regenerating an image, and whether the wallet covers it (articles.read). Nothing is reserved.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function estimateRegeneration(
  { db, actor }: VerbContext,
  { articleId, assetId, quality }: Pick<Regenerate, 'articleId' | 'assetId' | 'quality'>,
): Promise<{
  estimate: RegenerationEstimate;
  wallet: Awaited<ReturnType<typeof walletOf>>;
  sufficient: boolean;
}> {
  requirePermissions(actor, 'articles.read');
  const article = await db
    .selectFrom('articles')
    .innerJoin('assets', 'assets.article_id', 'articles.id')
    .select((eb) => eb.cast<string | null>('articles.generation_config', 'text').as('generation_config'))
    .where('articles.workspace_id', '=', actor.workspaceId)
    .where('articles.id', '=', articleId)
    .where('assets.id', '=', assetId)
    .executeTakeFirstOrThrow(() => notFound('asset'));
  const estimate = estimateOf(quality ?? settingsOf(article.generation_config).imageQuality);
  const wallet = await walletOf(db, actor.workspaceId);
  return { estimate, wallet, sufficient: wallet.available >= estimate.total };
}

/**
 * Queues a job that regenerates an image in place (articles.generate, articles.update). One transaction writes the job with
 * its image, the audit entry and the hold; the run starts after the commit. The job owns nothing (contract.md G116).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; INVALID_REQUEST without a prompt, given or stored; CONFLICT `job_running` or
 *   `images_unavailable`; INSUFFICIENT_CREDITS, QUOTA_EXCEEDED
 */
export async function regenerateImage(context: RegenerationContext, input: Regenerate): Promise<Regenerated> {
  requirePermissions(context.actor, 'articles.generate', 'articles.update');
  return queueGeneration(context, input.idempotencyKey, (tx) => admit(tx, context, input));
}

async function admit(
  tx: Tx,
  context: RegenerationContext,
  { articleId, assetId, idempotencyKey, ...wanted }: Regenerate,
): Promise<Queued<Regenerated & { reused: false }>> {
  const { workspaceId } = context.actor;
  const article = await lockArticle(tx, workspaceId, articleId, 'edit');
  const asset = await findAsset(tx, articleId, assetId);
  const prompt = wanted.prompt ?? asset.prompt;
  if (prompt === null) {
    throw invalid('/prompt', 'The image was not drawn by a model and has no prompt. Say what is to be seen.');
  }
  if (!context.canDraw) {
    throw conflict(
      'This service has no model that draws images. Upload the image instead.',
      'images_unavailable',
    );
  }
  await requireAlone(tx, assetId);
  const settings = settingsOf(article.generation_config);
  const estimate = estimateOf(wanted.quality ?? settings.imageQuality);
  const style = (await projectStyle(tx, article, asset.role)) ?? settings.imageStyle;
  const job = await admitJob(tx, context, {
    purpose: 'image',
    article,
    idempotencyKey,
    credits: estimate.total,
    bytes: MAX_GENERATED_BYTES,
    workflowId: imageWorkflowId,
    events: () => [],
    audit: { action: 'assets.regeneration_requested', details: { assetId, quality: estimate.quality } },
    record: async (jobId) => {
      await tx
        .insertInto('generation_images')
        .values({
          job_id: jobId,
          number: ONLY_IMAGE,
          role: asset.role,
          asset_id: assetId,
          replaces: asset.content_hash,
          quality: estimate.quality,
          style,
          prompt,
          state: 'prompted',
        })
        .execute();
    },
  });
  const { article: shown } = await showArticle(tx, article);
  return { generated: { reused: false, article: shown, job: toJob(job), estimate }, run: job };
}

/** Whoever admits one holds the article's lock. @throws {ServiceError} CONFLICT `job_running` */
async function requireAlone(tx: Tx, assetId: AssetId): Promise<void> {
  const other = await tx
    .selectFrom('generation_images')
    .innerJoin('jobs', 'jobs.id', 'generation_images.job_id')
    .select('jobs.id')
    .where('generation_images.asset_id', '=', assetId)
    .where('generation_images.replaces', 'is not', null)
    .where('jobs.ended_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (other !== undefined) {
    throw conflict(
      'This image is already being regenerated. Wait for that job, or cancel it.',
      'job_running',
    );
  }
}

/** The style that the project's imageSettings have for such images; null for none. */
async function projectStyle(
  db: Queryable,
  { project_id }: Pick<ArticleRow, 'project_id'>,
  role: AssetRow['role'],
): Promise<ImageStyle | null> {
  const project = await db
    .selectFrom('projects')
    .select(['hero_image_style', 'inline_image_style'])
    .where('id', '=', project_id)
    .executeTakeFirst();
  return (role === 'hero' ? project?.hero_image_style : project?.inline_image_style) ?? null;
}
