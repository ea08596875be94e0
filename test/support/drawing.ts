import sharp from 'sharp';
import { beforeEach, expect } from 'vitest';
import type { Asset } from '../../src/assets/schemas.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import type { ImageModel, ImageRequest } from '../../src/providers/image-model.ts';
import { documentOf, editing, paragraph } from '../articles/support.ts';
import { useDataFolder } from './data-folder.ts';
import { listenToAll } from './events.ts';
import { type JobOptions, useJobs } from './jobs.ts';
import type { Answer, TestService, TestWorkspace } from './service.ts';
import { createStandIn, translating } from './translating.ts';

/** A stand-in for a model that draws: does what the test says, then draws a plain picture, another one for each seed. */
export interface StandInModel extends ImageModel {
  behave: (request: ImageRequest) => Promise<Uint8Array | undefined>;
  /** Its calls since the test began. */
  readonly requests: ImageRequest[];
}

/** A picture of one colour as a PNG. */
export const picture = (red: number, width = 64, height = 36): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: { r: red % 256, g: (red >> 8) % 256, b: 99 } } })
    .png()
    .toBuffer();

export function createStandInModel(): StandInModel {
  const standIn: StandInModel = {
    name: 'stand-in',
    modelOf: (quality) => `stand-in-${quality}`,
    behave: async () => undefined,
    requests: [],
    async draw(request) {
      standIn.requests.push(request);
      return (await standIn.behave(request)) ?? picture(request.seed);
    },
  };
  return standIn;
}

export const image = (assetId: string) => ({ id: 'i', type: 'image', assetId, altText: '' });

/** The calls a client makes around an image that is regenerated. */
export const drawing = (service: TestService) => {
  const shared = translating(service);
  const calls = {
    ...shared,
    request: (
      workspace: TestWorkspace,
      asset: Pick<Asset, 'id' | 'articleId'>,
      body: Record<string, unknown> = {},
      headers?: Record<string, string>,
    ): Promise<Answer> =>
      service.call(
        workspace.key,
        'POST',
        `/api/articles/${asset.articleId}/assets/${asset.id}/regenerate`,
        body,
        headers,
      ),
    /** An accepted request. */
    async regenerate(
      workspace: TestWorkspace,
      asset: Pick<Asset, 'id' | 'articleId'>,
      body: Record<string, unknown> = {},
    ): Promise<Job> {
      const answer = await calls.request(workspace, asset, { prompt: 'A bed in spring', ...body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(202);
      return answer.body.job;
    },
    async regenerateTo(
      workspace: TestWorkspace,
      asset: Pick<Asset, 'id' | 'articleId'>,
      body: Record<string, unknown> = {},
    ): Promise<Job> {
      return calls.untilFinal(workspace, (await calls.regenerate(workspace, asset, body)).id);
    },
    readAsset: async (workspace: TestWorkspace, { id, articleId }: Pick<Asset, 'id' | 'articleId'>) =>
      (await service.call(workspace.key, 'GET', `/api/articles/${articleId}/assets/${id}`)).body
        .asset as Asset,
    /** An article that shows an uploaded image in its body. */
    async illustrated(workspace: TestWorkspace, state: 'draft' | 'published' = 'draft') {
      const editor = editing(service, workspace);
      const article = await editor.create(await service.project(workspace));
      const uploaded = await editor.upload(
        'POST',
        `/api/articles/${article.id}/assets?fileName=bed.png&altText=A%20bed`,
        await picture(1),
      );
      expect(uploaded.status).toBe(201);
      const asset: Asset = uploaded.body.asset;
      await editor.patch(article.id, { documentJson: documentOf(paragraph('Text'), image(asset.id)) });
      if (state === 'published') {
        await editor.submit(article.id);
        await editor.review(article.id, 'approved');
        expect((await editor.publish(article.id)).status).toBe(200);
      }
      return { article, asset };
    },
    /** The bytes at an address that readers load, and their type; null where nothing is served. */
    async load(url: string): Promise<{ bytes: Buffer; type: string | null } | null> {
      const response = await fetch(new URL(url, service.url));
      const bytes = Buffer.from(await response.arrayBuffer());
      return response.status === 200 ? { bytes, type: response.headers.get('content-type') } : null;
    },
  };
  return calls;
};

/**
 * What a file about images that are regenerated needs: the service with a worker on stand-ins for the model and the engine, an
 * operator, and for each test a fresh workspace that hears all events.
 */
export function useDrawing({ credits = 20, env = {} }: JobOptions = {}) {
  const model = createStandInModel();
  const provider = createStandIn();
  const folder = useDataFolder();
  const jobs = useJobs(
    { imageModel: model, provider },
    { credits, env: { IMAGE_PROVIDER: 'pseudo', DATA_DIR: folder, ...env } },
    (workspace) => listenToAll(jobs.service.db, workspace.id).then(() => undefined),
  );
  beforeEach(() => {
    model.behave = async () => undefined;
    model.requests.length = 0;
    provider.behave = async () => undefined;
  });
  return { ...jobs, model, provider, calls: drawing(jobs.service) };
}
