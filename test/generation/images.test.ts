import { describe, expect, it } from 'vitest';
import type { ArticleId, JobId } from '../../src/ids.ts';
import { useGenerations } from '../support/generating.ts';

const { service, workspace, calls } = useGenerations({ credits: 40, env: { IMAGE_PROVIDER: 'pseudo' } });

const imagesOf = (jobId: string) =>
  service.db
    .selectFrom('generation_images')
    .selectAll()
    .where('job_id', '=', jobId as JobId)
    .orderBy('number')
    .execute();
const assetsOf = (articleId: string) =>
  service.db
    .selectFrom('assets')
    .selectAll()
    .where('article_id', '=', articleId as ArticleId)
    .orderBy('created_at')
    .execute();
const bytesUsed = async () =>
  (
    await service.db
      .selectFrom('workspaces')
      .select('storage_bytes_used')
      .where('id', '=', workspace.id)
      .executeTakeFirstOrThrow()
  ).storage_bytes_used;

describe('a generation with images', () => {
  // contract.md G100, G105, G106 and G107
  it('has a cover and images behind their sections, charges each, and tells of each once', async () => {
    const { article, job } = await calls.generateTo(workspace, { imageCount: 3 });
    expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: 4, consumedCredits: 4 });
    const images = await imagesOf(job.id);
    const assets = await assetsOf(article.id);
    expect(images.map(({ role, state }) => [role, state])).toEqual([
      ['hero', 'delivered'],
      ['inline', 'delivered'],
      ['inline', 'delivered'],
    ]);
    expect(assets.map(({ id }) => id)).toEqual(images.map(({ asset_id }) => asset_id));
    for (const asset of assets) {
      expect(asset.media_type).toBe('image/webp');
      expect(asset.prompt).not.toBe('');
      expect(article.contentHtml?.includes(asset.id)).toBe(asset.role === 'inline');
    }
    const shown = article.documentJson.blocks.flatMap((block) =>
      block.type === 'image' ? [block.assetId] : [],
    );
    expect(shown).toEqual(assets.slice(1).map(({ id }) => id));
    const events = (await calls.events(article.id)).filter(({ event }) => event === 'image.generated');
    expect(events.map(({ data }) => data)).toEqual(
      assets.map(({ id, role }) => ({ articleId: article.id, assetId: id, type: role })),
    );
    const held = assets.reduce((sum, { byte_size, variant_bytes }) => sum + byte_size + variant_bytes, 0);
    expect(await bytesUsed()).toBe(held);
  });
});
