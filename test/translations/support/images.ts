import { type ArticleId, type AssetId, newId } from '../../../src/ids.ts';
import { createArticle } from '../../support/articles.ts';
import type { TestService, TestWorkspace } from '../../support/service.ts';

/** Bytes that count toward the workspace's storage quota. */
export const usedBytes = async (service: TestService, workspace: TestWorkspace) =>
  (
    await service.db
      .selectFrom('workspaces')
      .select('storage_bytes_used')
      .where('id', '=', workspace.id)
      .executeTakeFirstOrThrow()
  ).storage_bytes_used;

/** Notes stored bytes, as an upload does. */
const noteBlob = (service: TestService, hash: string, size: number) =>
  service.db
    .insertInto('blobs')
    .values({ hash, size })
    .onConflict((on) => on.doNothing())
    .execute();

/** An image of the article, counted as an upload counts it. */
export async function addAsset(
  service: TestService,
  workspace: TestWorkspace,
  articleId: ArticleId,
  role: 'hero' | 'inline',
  byteSize: number,
): Promise<AssetId> {
  const id = newId<AssetId>();
  const hash = (role === 'hero' ? 'a' : 'b').repeat(64);
  await noteBlob(service, hash, byteSize);
  await service.db
    .insertInto('assets')
    .values({
      id,
      workspace_id: workspace.id,
      article_id: articleId,
      role,
      content_hash: hash,
      media_type: 'image/png',
      byte_size: byteSize,
      file_name: `${role}.png`,
      alt_text: `The ${role} of it`,
    })
    .execute();
  await service.db
    .updateTable('workspaces')
    .set((eb) => ({ storage_bytes_used: eb('storage_bytes_used', '+', byteSize) }))
    .where('id', '=', workspace.id)
    .execute();
  return id;
}

/** An article whose body shows an image of 700 bytes, with its preview and thumbnail. */
export async function createIllustrated(service: TestService, workspace: TestWorkspace) {
  const assetId = newId<AssetId>();
  const source = await createArticle(service.db, workspace, await service.project(workspace), {
    document: {
      version: 1,
      blocks: [
        { id: 'p', type: 'paragraph', text: 'A plan of the beds.' },
        { id: 'i', type: 'image', assetId, altText: 'Six beds', caption: 'The plan' },
      ],
    },
  });
  await noteBlob(service, 'b'.repeat(64), 600);
  await noteBlob(service, 'd'.repeat(64), 70);
  await noteBlob(service, 'e'.repeat(64), 30);
  await service.db
    .insertInto('assets')
    .values({
      id: assetId,
      workspace_id: workspace.id,
      article_id: source.id,
      role: 'inline',
      content_hash: 'b'.repeat(64),
      media_type: 'image/png',
      byte_size: 600,
      preview_hash: 'd'.repeat(64),
      thumbnail_hash: 'e'.repeat(64),
      variant_bytes: 100,
      file_name: 'plan.png',
      alt_text: 'Beds from above',
    })
    .execute();
  return { source, assetId };
}
