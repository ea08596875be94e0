import { sql } from 'kysely';
import { updatedEvents } from '../../articles/events.ts';
import { hashesOf } from '../../articles/images.ts';
import { contentChanged, summaryColumns } from '../../articles/queries.ts';
import { type Replacing, replaceImage } from '../../articles/replace-image.ts';
import { keepBlobs } from '../../blobs/references.ts';
import { clockTimestamp } from '../../db/clock.ts';
import type { Database, Tx } from '../../db/database.ts';
import type { OnLeftOver } from '../../db/savepoint.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { NewEvent } from '../../events/catalog.ts';
import { recordChange } from '../../events/record.ts';
import { readImageOf } from '../../generation/images/images.ts';
import { enterStep } from '../../generation/progress.ts';
import type { ArticleId, JobId } from '../../ids.ts';
import { endJob } from '../../jobs/end.ts';
import { type JobTarget, settleJob } from '../../jobs/run-state.ts';
import type { JobAreas } from '../../jobs/start.ts';
import { countUnpaid } from '../../jobs/unpaid.ts';
import type { Replacement } from '../../temporal/shapes.ts';
import { isShown } from '../change.ts';
import { ONLY_IMAGE } from './admit.ts';
import { PROGRESS } from './draw.ts';

/** The image is not the one of admission any more: a person has replaced or deleted it. */
class ImageChangedError extends Error {
  override readonly name = 'ImageChangedError';
}

const CHANGED =
  'The image was replaced or deleted while it was being regenerated. That change was kept, and nothing was charged.';

export interface SettleDependencies {
  readonly db: Database;
  readonly areas: JobAreas;
  readonly onLeftOver: OnLeftOver;
}

/**
 * Puts the drawn image in the place of the one that was there at admission, and charges, in one transaction. When a person
 * has changed that one since, it stays, and the job fails uncharged (contract.md G118).
 */
export async function settleRegeneration(
  { db, areas, onLeftOver }: SettleDependencies,
  jobId: JobId,
): Promise<Replacement> {
  if (!(await enterStep(db, jobId, 'finalize', PROGRESS.finalize))) return 'already ended';
  const drawn = await readDrawn(db, jobId);
  try {
    return (await inTransaction(db, (tx) => settle(tx, jobId, drawn))) ? 'settled' : 'already ended';
  } catch (error) {
    if (!(error instanceof ImageChangedError)) throw error;
  }
  return inTransaction(db, async (tx) => {
    const ended = await endJob(tx, jobId, { status: 'FAILED', errorMessage: CHANGED, onLeftOver });
    if (ended === null) return 'already ended';
    // As with a version that is deleted while it is refreshed.
    await countUnpaid(tx, areas, ended, 'cancelled');
    return 'changed';
  });
}

/** What a job has drawn, and the terms it was admitted with. */
async function readDrawn(db: Database, jobId: JobId) {
  const { request_id, held_bytes, reserved_credits } = await db
    .selectFrom('jobs')
    .select(['request_id', 'held_bytes', 'reserved_credits'])
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow();
  const { asset_id, replaces, prompt, processed } = await readImageOf(db, jobId, ONLY_IMAGE);
  if (processed === null || replaces === null || prompt === null) {
    throw new Error(`job ${jobId} has no image to put in place`);
  }
  const image: Replacing = { assetId: asset_id, replaces, prompt, image: processed };
  return { requestId: request_id ?? '', heldBytes: held_bytes, credits: reserved_credits, ...image };
}

const settle = (
  tx: Tx,
  jobId: JobId,
  { requestId, heldBytes, credits, ...drawn }: Awaited<ReturnType<typeof readDrawn>>,
): Promise<boolean> =>
  settleJob(tx, jobId, 'FINALIZING', async (article: JobTarget) => {
    const { id: articleId, workspace_id: workspaceId } = article;
    const { assetId, image } = drawn;
    const hashes = hashesOf([image]);
    const kept = await keepBlobs(tx, hashes);
    if (hashes.some((hash) => !kept.has(hash))) throw new Error(`bytes of job ${jobId} are not stored`);
    const replaced = await replaceImage(tx, article, drawn);
    if (replaced === null) throw new ImageChangedError(`asset ${assetId}`);
    await markDelivered(tx, jobId);
    const author = { actor: { kind: 'system', workspaceId, jobId }, requestId } as const;
    await recordChange(
      tx,
      author,
      {
        action: 'assets.regenerated',
        targetType: 'asset',
        targetId: assetId,
        details: { articleId, jobId, mediaType: image.mediaType, byteSize: image.byteSize },
      },
      [
        { type: 'image.regenerated', data: { articleId, assetId } },
        ...(await showReplaced(tx, articleId, { id: assetId, role: replaced.role })),
        { type: 'credits.consumed', data: { articleId, jobId, credits } },
      ],
    );
    return { bytesLeft: heldBytes - replaced.grownBy };
  });

/**
 * The change of an article whose readers see the image. Its version, which saves compare, grows only where the tag would
 * stay otherwise: as with other addresses, no save is refused for it (contract.md G120).
 */
async function showReplaced(
  tx: Tx,
  articleId: ArticleId,
  asset: Parameters<typeof isShown>[0],
): Promise<NewEvent[]> {
  const { content_places } = await tx
    .selectFrom('articles')
    .select(sql<string | null>`content_places::text`.as('content_places'))
    .where('id', '=', articleId)
    .executeTakeFirstOrThrow();
  if (!isShown(asset, { content_places }, 'image')) return [];
  const after = await tx
    .updateTable('articles')
    .set({
      version: sql<number>`version + (content_places IS NULL)::integer`,
      updated_at: clockTimestamp,
      ...contentChanged,
    })
    .where('id', '=', articleId)
    .returning(summaryColumns)
    .executeTakeFirstOrThrow();
  return updatedEvents(after, ['content']);
}

const markDelivered = (tx: Tx, jobId: JobId): Promise<unknown> =>
  tx.updateTable('generation_images').set({ state: 'delivered' }).where('job_id', '=', jobId).execute();
