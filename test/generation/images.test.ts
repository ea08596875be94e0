import { describe, expect, it } from 'vitest';
import { documentOf, editing, PNG } from '../articles/support.ts';
import { useDataFolder } from '../support/data-folder.ts';
import { config, useGenerations } from '../support/generating.ts';
import { imagesIn } from './support/images.ts';

const env = { IMAGE_PROVIDER: 'pseudo', DATA_DIR: useDataFolder() };
const { service, workspace, calls } = useGenerations({ credits: 40, env });

const { imagesOf, assetsOf, bytesUsed, stagedOf } = imagesIn(service);

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
    expect(await bytesUsed(workspace.id)).toBe(held);
    expect(await stagedOf(job.id)).toEqual([]);
    const { report } = (await service.call(workspace.key, 'GET', `/api/jobs/${job.id}/report`)).body;
    expect(report.images).toMatchObject({ requested: 3, delivered: 3 });
    expect(report.images.items[0]).toEqual({
      ...{ number: 0, role: 'hero', status: 'delivered', assetId: assets[0]?.id },
      ...{ reason: null, answered: 1, unanswered: 0 },
    });
    expect(report.calls.filter(({ kind }: { kind: string }) => kind === 'image')).toHaveLength(3);
  });

  // contract.md G32 and G106
  it.each([
    ['standard', 1],
    ['hd', 3],
  ])('of quality %s costs %i for each image that was delivered', async (imageQuality, each) => {
    const { job } = await calls.generateTo(workspace, { imageCount: 2, imageQuality });
    expect(job).toMatchObject({ estimatedCredits: 1 + 2 * each, consumedCredits: 1 + 2 * each });
    expect((await imagesOf(job.id)).map(({ quality }) => quality)).toEqual([imageQuality, imageQuality]);
  });

  // contract.md G32
  it('makes none with imageCount 0, and by default as many as wordCount says', async () => {
    const none = await calls.generateTo(workspace, { imageCount: 0 });
    expect(none.job).toMatchObject({ estimatedCredits: 1, consumedCredits: 1 });
    expect(await assetsOf(none.article.id)).toEqual([]);
    const derived = await calls.generateTo(workspace, { imageCount: null, wordCount: 400 });
    expect(derived.job).toMatchObject({ estimatedCredits: 3, consumedCredits: 3 });
    expect((await assetsOf(derived.article.id)).map(({ role }) => role)).toEqual(['hero', 'inline']);
  });

  // contract.md G101
  it("has the project's styles before that of its settings", async () => {
    const projectId = await service.project(workspace);
    const imageSettings = { hero: { style: 'watercolor' } };
    await service.call(workspace.key, 'PATCH', `/api/projects/${projectId}`, { imageSettings });
    const { body } = await calls.request(workspace, projectId, {
      generationConfig: { ...config, imageCount: 2, imageStyle: 'cinematic' },
    });
    await calls.untilFinal(workspace, body.job.id);
    expect((await imagesOf(body.job.id)).map(({ style }) => style)).toEqual(['watercolor', 'cinematic']);
  });

  // contract.md G102
  it('makes no cover for an article that has one, and charges none', async () => {
    const projectId = await service.project(workspace);
    const editor = editing(service, workspace);
    const draft = await editor.create(projectId, { documentJson: documentOf() });
    const cover = await editor.upload('PUT', `/api/articles/${draft.id}/hero`, PNG);
    expect(cover.status).toBe(201);
    const { body } = await calls.draft(workspace, draft.id, {
      generationConfig: { ...config, imageCount: 2 },
    });
    const job = await calls.untilFinal(workspace, body.job.id);
    expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: 3, consumedCredits: 2 });
    const images = await imagesOf(job.id);
    expect(images.map(({ state, reason, calls: made }) => [state, reason, made])).toEqual([
      ['failed', 'own_cover', 0],
      ['delivered', null, 1],
    ]);
    const assets = await assetsOf(draft.id);
    expect(assets.map(({ id }) => id)).toEqual([cover.body.asset.id, images[1]?.asset_id]);
  });

  // contract.md G108
  it('needs room for its images: 429 when their bytes do not fit, and nothing is left behind', async () => {
    const set = (values: { storage_bytes_limit: number }) =>
      service.db.updateTable('workspaces').set(values).where('id', '=', workspace.id).execute();
    await set({ storage_bytes_limit: 4 * 1024 * 1024 });
    const projectId = await service.project(workspace);
    const refused = await calls.request(workspace, projectId, {
      generationConfig: { ...config, imageCount: 3 },
    });
    expect([refused.status, refused.body.code]).toEqual([429, 'QUOTA_EXCEEDED']);
    expect(await bytesUsed(workspace.id)).toBe(0);
    expect(await calls.readWallet(workspace)).toMatchObject({ reserved: 0 });
    const fits = await calls.request(workspace, projectId, {
      generationConfig: { ...config, imageCount: 1 },
    });
    expect(fits.status).toBe(202);
    expect((await calls.untilFinal(workspace, fits.body.job.id)).consumedCredits).toBe(2);
  });
});
