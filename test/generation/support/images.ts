import type { ArticleId, JobId, WorkspaceId } from '../../../src/ids.ts';
import type { TestService } from '../../support/service.ts';

/** What a generation with images leaves, as rows. */
export const imagesIn = (service: Pick<TestService, 'db'>) => ({
  imagesOf: (jobId: string) =>
    service.db
      .selectFrom('generation_images')
      .selectAll()
      .where('job_id', '=', jobId as JobId)
      .orderBy('number')
      .execute(),
  /** The images of an article, oldest first. */
  assetsOf: (articleId: string) =>
    service.db
      .selectFrom('assets')
      .selectAll()
      .where('article_id', '=', articleId as ArticleId)
      .orderBy('created_at')
      .execute(),
  /** Calls for images: how they ended, by the image's number. */
  callsOf: (jobId: string) =>
    service.db
      .selectFrom('generation_calls')
      .select(['image', 'outcome', 'model'])
      .where('job_id', '=', jobId as JobId)
      .where('image', 'is not', null)
      .orderBy('id')
      .execute(),
  /** What the quota counts of a workspace's images, held bytes included. */
  async bytesUsed(workspaceId: WorkspaceId): Promise<number> {
    const row = await service.db
      .selectFrom('workspaces')
      .select('storage_bytes_used as bytes')
      .where('id', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return row.bytes;
  },
  /** Stored bytes that an open job names. */
  stagedOf: (jobId: string) =>
    service.db
      .selectFrom('staged_blobs')
      .select('hash')
      .where('job_id', '=', jobId as JobId)
      .execute(),
});
