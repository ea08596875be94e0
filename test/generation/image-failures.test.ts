import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blobFolder, createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { collectBlobs } from '../../src/blobs/collect.ts';
import { type ArticleId, type AssetId, newId } from '../../src/ids.ts';
import type { ImageModel } from '../../src/providers/image-model.ts';
import { createOpenAiCompatibleImageModel } from '../../src/providers/images/openai-compatible.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { useDataFolder } from '../support/data-folder.ts';
import { type EngineResponse, silence, startEngineServer } from '../support/engine-server.ts';
import { useGenerations } from '../support/generating.ts';
import { decoders } from '../support/images.ts';
import { eventually } from '../support/wait.ts';
import { imagesIn } from './support/images.ts';
import { controlSteps, type StepControl } from './support/steps.ts';

const folder = useDataFolder();
const blobs = createLocalBlobStore(blobFolder(folder));
const server = await startEngineServer(() => silence);
afterAll(() => server.close());
const endpoint = createOpenAiCompatibleImageModel({
  baseUrl: `${server.url}/v1`,
  models: { standard: 'stand-in', hd: 'stand-in' },
  timeoutMs: 1_000,
});
/** What draws: the endpoint of the test, unless a test says otherwise. */
let draw = endpoint.draw;
const imageModel: ImageModel = {
  ...endpoint,
  draw: (request) => draw(request),
};
const { service, workspace, calls, writers } = useGenerations({
  credits: 40,
  imageModel,
  env: { DATA_DIR: folder },
});
const { imagesOf, assetsOf, bytesUsed, callsOf, stagedOf } = imagesIn(service);
let steps: StepControl;
beforeAll(async () => {
  steps = await controlSteps(service.db);
});
beforeEach(() => {
  draw = endpoint.draw;
  server.answer = () => silence;
});

const picture = async (): Promise<string> => {
  const color = { r: 40, g: 90, b: 60 };
  const bytes = await sharp({ create: { width: 1_536, height: 864, channels: 3, background: color } })
    .png()
    .toBuffer();
  return bytes.toString('base64');
};
const sent = (...images: readonly string[]): EngineResponse => ({
  body: { created: 1, data: images.map((b64_json) => ({ b64_json })) },
});
const POLICY: EngineResponse = {
  status: 400,
  body: {
    error: { message: 'Your request was rejected by the safety system.', code: 'content_policy_violation' },
  },
};
const outcomesOf = async (jobId: string) =>
  (await imagesOf(jobId)).map(({ state, reason, calls: answered, unanswered }) => [
    state,
    reason,
    answered,
    unanswered,
  ]);

/** What is true of an article whose images were not delivered. */
async function expectTextAlone(
  articleId: string,
  job: { id: string; consumedCredits: number; status: string },
) {
  expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
  const article = await calls.readArticle(workspace, articleId);
  expect(article.status).toBe('NEEDS_REVIEW');
  expect(article.documentJson.blocks.some(({ type }) => type === 'image')).toBe(false);
  expect(article.contentHtml).not.toContain('<img');
  expect(await assetsOf(articleId)).toEqual([]);
  expect(await bytesUsed(workspace.id)).toBe(0);
  expect(await stagedOf(job.id)).toEqual([]);
  expect(await calls.eventTypes(articleId)).not.toContain('image.generated');
  expect(await calls.readWallet(workspace)).toEqual({ balance: 39, reserved: 0, available: 39 });
}

describe('an image that fails is not charged, and the text is saved:', () => {
  // contract.md G105 and G106
  it.each([
    ['an empty list', sent()],
    ['a refusal by policy', POLICY],
    ['text as base64', sent(Buffer.from('no image at all').toString('base64'))],
    ['an address in a private network', { body: { created: 1, data: [{ url: 'http://10.0.0.1/1.png' }] } }],
  ])('%s', async (_, response) => {
    server.answer = () => response;
    const { article, job } = await calls.generateTo(workspace, { wordCount: 300, imageCount: 2 });
    await expectTextAlone(article.id, job);
    for (const [state, reason, answered, unanswered] of await outcomesOf(job.id)) {
      expect([state, unanswered]).toEqual(['failed', 0]);
      expect(['refused', 'not_an_image']).toContain(reason);
      expect(Number(answered)).toBeLessThanOrEqual(2);
    }
  });

  it('30 MB, which may take longer than a call has', async () => {
    const b64_json = Buffer.alloc(30_000_000).toString('base64');
    const body = JSON.stringify({ created: 1, data: [{ b64_json }] });
    server.answer = () => ({ body });
    const { article, job } = await calls.generateTo(workspace, { imageCount: 1 });
    await expectTextAlone(article.id, job);
    for (const [state, , answered, unanswered] of await outcomesOf(job.id)) {
      expect(state).toBe('failed');
      expect(Number(answered)).toBeLessThanOrEqual(2);
      expect(Number(unanswered)).toBeLessThanOrEqual(4);
    }
  });

  it('bytes that begin like an image and cannot be decoded', async () => {
    const whole = Buffer.from(await picture(), 'base64');
    server.answer = () => sent(whole.subarray(0, 200).toString('base64'));
    const { article, job } = await calls.generateTo(workspace, { imageCount: 2 });
    await expectTextAlone(article.id, job);
    expect(await outcomesOf(job.id)).toEqual([
      ['failed', 'not_an_image', 1, 0],
      ['failed', 'not_an_image', 1, 0],
    ]);
  });

  // contract.md G104
  it('nothing within the time limit: four calls each, and no fifth', async () => {
    const { article, job } = await calls.generateTo(workspace, { imageCount: 2 });
    await expectTextAlone(article.id, job);
    expect(await outcomesOf(job.id)).toEqual([
      ['failed', 'unanswered', 0, 4],
      ['failed', 'unanswered', 0, 4],
    ]);
  });

  it('a model that refuses this deployment, until the attempts are used up, for three images and not for the others', async () => {
    draw = () => Promise.reject(new ProviderError('misconfigured', 'No such key.', { retryAfterMs: 1 }));
    const { article, job } = await calls.generateTo(workspace, { imageCount: 6 });
    await expectTextAlone(article.id, job);
    const images = await imagesOf(job.id);
    expect(images.map(({ reason }) => reason)).toEqual([
      ...['misconfigured', 'misconfigured', 'misconfigured'],
      ...['busy', 'busy', 'busy'],
    ]);
    expect(await callsOf(job.id)).toHaveLength(45);
  });

  it('prompts that no response brought', async () => {
    writers.responses.imagePrompts = () => Promise.reject(new ProviderError('refused', 'No.'));
    const { article, job } = await calls.generateTo(workspace, { imageCount: 2 });
    await expectTextAlone(article.id, job);
    expect(await outcomesOf(job.id)).toEqual([
      ['failed', 'no_prompt', 0, 0],
      ['failed', 'no_prompt', 0, 0],
    ]);
  });
});

// contract.md G105 and G106
it('half of the images: they are delivered, charged and shown, and the others leave no trace', async () => {
  const image = await picture();
  const later = new Set<string>();
  server.answer = ({ body }) => {
    later.add(body);
    return [...later].indexOf(body) % 2 === 0 ? sent(image) : POLICY;
  };
  const { article, job } = await calls.generateTo(workspace, { imageCount: 4 });
  const images = await imagesOf(job.id);
  const delivered = images.filter(({ state }) => state === 'delivered');
  expect(delivered).toHaveLength(2);
  expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: 5, consumedCredits: 3 });
  const assets = await assetsOf(article.id);
  expect(assets.map(({ id }) => id)).toEqual(delivered.map(({ asset_id }) => asset_id));
  const shown = article.documentJson.blocks.flatMap((block) =>
    block.type === 'image' ? [block.assetId] : [],
  );
  expect(shown).toEqual(assets.filter(({ role }) => role === 'inline').map(({ id }) => id));
  const bytes = assets.reduce((sum, { byte_size, variant_bytes }) => sum + byte_size + variant_bytes, 0);
  expect(await bytesUsed(workspace.id)).toBe(bytes);
});

// contract.md G17, G104 and G109
it('a run cancelled while it draws costs nothing, gives its bytes back, and its images count as unpaid work', async () => {
  const image = await picture();
  let asked = 0;
  draw = (request) => {
    asked += 1;
    if (asked === 1) return Promise.resolve(Buffer.from(image, 'base64'));
    return new Promise((_, reject) => {
      request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true });
    });
  };
  const { article, job } = await calls.generate(workspace, { imageCount: 3 });
  await eventually(
    () => imagesOf(job.id),
    (images) => asked === 3 && images.some(({ state }) => state === 'drawn'),
  );
  expect(await bytesUsed(workspace.id)).toBe(3 * 2 * 1024 * 1024);
  const [staged] = await stagedOf(job.id);
  const stays = async (): Promise<boolean> => {
    for (let round = 0; round < 2; round += 1) {
      await collectBlobs(service.db, { blobs, graceMs: 0, signal: new AbortController().signal });
    }
    return blobs.has(staged?.hash ?? '');
  };
  expect(await stays()).toBe(true);
  await calls.cancel(workspace, job.id);
  expect(await bytesUsed(workspace.id)).toBe(0);
  expect(await stagedOf(job.id)).toEqual([]);
  expect(await stays()).toBe(false);
  expect(await assetsOf(article.id)).toEqual([]);
  expect(await calls.readWallet(workspace)).toEqual({ balance: 40, reserved: 0, available: 40 });
  const { words } = await service.db
    .selectFrom('unpaid_work')
    .select('words')
    .where('workspace_id', '=', workspace.id)
    .executeTakeFirstOrThrow();
  expect(words).toBeGreaterThanOrEqual(3 * 500);
});

// contract.md G102 and G106
it('a cover that is there by the end stays, and that of the run is neither used nor charged', async () => {
  const image = Buffer.from(await picture(), 'base64');
  const own = newId<AssetId>();
  const started = calls.generate(workspace, { imageCount: 2 });
  let adding: Promise<unknown> | undefined;
  draw = async () => {
    const { article } = await started;
    adding ??= service.db
      .insertInto('assets')
      .values({
        ...{ id: own, workspace_id: workspace.id, article_id: article.id as ArticleId, role: 'hero' },
        ...{ content_hash: 'a'.repeat(64), media_type: 'image/png', byte_size: 0, file_name: 'own.png' },
      })
      .execute();
    await adding;
    return image;
  };
  const { article, job } = await started;
  const ended = await calls.untilFinal(workspace, job.id);
  expect(ended).toMatchObject({ status: 'COMPLETED', consumedCredits: 2 });
  expect((await outcomesOf(job.id)).map(([state, reason]) => [state, reason])).toEqual([
    ['failed', 'own_cover'],
    ['delivered', null],
  ]);
  const heroes = (await assetsOf(article.id)).filter(({ role }) => role === 'hero');
  expect(heroes.map(({ id }) => id)).toEqual([own]);
  const told = (await calls.events(article.id)).filter(({ event }) => event === 'image.generated');
  expect(told.map(({ data }) => data.type)).toEqual(['inline']);
});

// contract.md G89, G109 and G111
it('a run that fails after its images gives their bytes back; the next one makes them anew, from the same prompts', async () => {
  const image = Buffer.from(await picture(), 'base64');
  let drawn = 0;
  draw = () => {
    drawn += 1;
    return Promise.resolve(image);
  };
  await steps.refuse('FINALIZING');
  const failed = await calls.generateTo(workspace, { imageCount: 2 });
  expect(failed.job).toMatchObject({ status: 'FAILED', consumedCredits: 0 });
  expect([drawn, await bytesUsed(workspace.id)]).toEqual([2, 0]);
  expect(await stagedOf(failed.job.id)).toEqual([]);
  await steps.refuse(null);
  const { body } = await calls.draft(workspace, failed.article.id);
  const job = await calls.untilFinal(workspace, body.job.id);
  expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 3 });
  expect(drawn).toBe(4);
  expect(writers.asked.filter((kind) => kind === 'imagePrompts')).toHaveLength(1);
});

// contract.md G105
it('goes on when what decodes its images is killed, and asks for none of them again', async () => {
  const image = Buffer.from(await picture(), 'base64');
  let drawn = 0;
  draw = () => {
    drawn += 1;
    return Promise.resolve(image);
  };
  const { job } = await calls.generate(workspace, { imageCount: 2 });
  const killed = new Set<number>();
  await eventually(
    async () => {
      for (const pid of decoders()) {
        if (killed.size === 2 || killed.has(pid)) continue;
        killed.add(pid);
        process.kill(pid, 'SIGKILL');
      }
    },
    () => killed.size === 2,
  );
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({
    status: 'COMPLETED',
    consumedCredits: 3,
  });
  expect(drawn).toBe(2);
  expect((await outcomesOf(job.id)).map(([state]) => state)).toEqual(['delivered', 'delivered']);
});
