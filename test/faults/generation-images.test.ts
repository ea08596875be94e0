import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { blobFolder, createLocalBlobStore, SHARDS } from '../../src/blobs/blob-store.ts';
import { collectBlobs } from '../../src/blobs/collect.ts';
import { NAMED_BLOBS } from '../../src/blobs/named.ts';
import { imagesIn } from '../generation/support/images.ts';
import { controlSteps } from '../generation/support/steps.ts';
import { useDataFolder } from '../support/data-folder.ts';
import { listenToAll } from '../support/events.ts';
import { config, generating } from '../support/generating.ts';
import { startImageModel } from '../support/image-model.ts';
import { openJobs } from '../support/jobs.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

/** `npm run soak:generations` runs this with a hundred. */
const KILLS = Number(process.env.GENERATION_KILLS ?? 1);
/** Articles that are under way at once, and the images of each. */
const AT_ONCE = 2;
const IMAGES = 4;
const DELAY_MS = 150;
/** Steps in whose first statement a worker is killed; between them it is killed while images are drawn. */
const STEPS = ['GENERATING_IMAGES', 'PROCESSING_MEDIA', 'FINALIZING', 'GENERATING_IMAGE_PROMPTS'] as const;

const folder = useDataFolder();
const service = useTestService({ UNBILLED_LIMIT_WORDS: '0', DATA_DIR: folder });

// contract.md G104, G106, G107, G108 and G109
it('images whose worker is killed again and again cost two answered and four unanswered calls at most, and leave what is charged', {
  timeout: 90_000 + KILLS * 60_000,
}, async () => {
  const calls = generating(service);
  const { db } = service;
  const { imagesOf, assetsOf, bytesUsed, stagedOf } = imagesIn(service);
  const workspace = await service.workspace((KILLS + 1) * AT_ONCE * (1 + IMAGES));
  await listenToAll(db, workspace.id);
  const model = await startImageModel(DELAY_MS);
  const start = (): Promise<ServiceProcess> => startProcess('worker.ts', { ...service.env, ...model.env });
  let worker = await start();
  const steps = await controlSteps(db);
  /** By their jobs. */
  const articles = new Map<string, string>();

  const openOnes = async (): Promise<number> => (await openJobs(db, [...articles.keys()])).length;
  const fillUp = async (): Promise<void> => {
    for (let open = await openOnes(); open < AT_ONCE; open += 1) {
      const topic = `Garden number ${articles.size}`;
      const { article, job } = await calls.generate(workspace, { ...config, topic, imageCount: IMAGES });
      articles.set(job.id, article.id);
    }
  };
  const inState = async (state: 'drawn' | 'processed'): Promise<number> =>
    (await Promise.all([...articles.keys()].map(imagesOf))).flat().filter((image) => image.state === state)
      .length;

  for (let kill = 0; kill < KILLS; kill += 1) {
    await fillUp();
    const killWhen = async (isTime: () => Promise<boolean>): Promise<void> => {
      await eventually(
        async () => (await openOnes()) === 0 || (await isTime()),
        (enough) => enough,
        90_000,
      );
      worker.kill('SIGKILL');
      await worker.ended;
    };
    const before = model.count();
    const step = STEPS[(kill >> 1) % STEPS.length];
    if (kill % 2 === 1 && step !== undefined) {
      await steps.hold(step, () => killWhen(async () => (await steps.held()) > 0));
    } else if (kill % 4 === 0) await killWhen(async () => model.count() > before + (kill % 6));
    else await killWhen(async () => (await inState(kill % 8 === 2 ? 'drawn' : 'processed')) > 0);
    worker = await start();
  }
  await eventually(openOnes, (open) => open === 0, 240_000);
  worker.kill('SIGTERM');
  await worker.ended;

  let charged = 0;
  let bytes = 0;
  for (const [jobId, id] of articles) {
    const job = await calls.readJob(workspace, jobId);
    const images = await imagesOf(job.id);
    for (const { calls: answered, unanswered, state } of images) {
      expect(answered).toBeLessThanOrEqual(2);
      expect(unanswered).toBeLessThanOrEqual(4);
      expect(['delivered', 'failed']).toContain(state);
    }
    const delivered = images.filter(({ state }) => state === 'delivered');
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 + delivered.length });
    charged += job.consumedCredits;
    const assets = await assetsOf(id);
    expect(assets.map(({ id: assetId }) => assetId)).toEqual(delivered.map(({ asset_id }) => asset_id));
    for (const asset of assets) bytes += asset.byte_size + asset.variant_bytes;
    const told = (await calls.events(id)).filter(({ event }) => event === 'image.generated');
    expect(told.map(({ data }) => data.assetId)).toEqual(assets.map(({ id: assetId }) => assetId));
    expect(await stagedOf(job.id)).toEqual([]);
  }
  // At the model itself, whatever we have counted.
  expect(Math.max(0, ...model.asked.values())).toBeLessThanOrEqual(6);
  expect(await bytesUsed(workspace.id)).toBe(bytes);
  expect(await calls.readWallet(workspace)).toMatchObject({ reserved: 0 });
  expect(charged).toBeGreaterThan(articles.size);

  // Whatever lost workers have left goes with its lease and its grace.
  const blobs = createLocalBlobStore(blobFolder(folder));
  await sql`UPDATE blobs SET kept_until = now() WHERE kept_until IS NOT NULL`.execute(db);
  for (let round = 0; round < 2; round += 1) {
    await collectBlobs(db, { blobs, graceMs: 0, signal: new AbortController().signal });
  }
  const { rows } = await sql<{
    hash: string;
  }>`SELECT DISTINCT hash FROM ${NAMED_BLOBS} AS named ORDER BY hash`.execute(db);
  const stored: string[] = [];
  for (const shard of SHARDS) for await (const page of blobs.list(shard)) stored.push(...page);
  expect(stored.toSorted()).toEqual(rows.map(({ hash: named }) => named));
  await model.close();
});
