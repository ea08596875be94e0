import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Asset } from '../../src/assets/schemas.ts';
import { blobFolder, createLocalBlobStore, SHARDS } from '../../src/blobs/blob-store.ts';
import { collectBlobs } from '../../src/blobs/collect.ts';
import { NAMED_BLOBS } from '../../src/blobs/named.ts';
import { imagesIn } from '../generation/support/images.ts';
import { controlSteps, type Step } from '../generation/support/steps.ts';
import { useDataFolder } from '../support/data-folder.ts';
import { drawing } from '../support/drawing.ts';
import { listenToAll } from '../support/events.ts';
import { startImageModel } from '../support/image-model.ts';
import { openJobs, untilEnded } from '../support/jobs.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

/** `npm run soak:regenerations` runs this with fifty. */
const KILLS = Number(process.env.REGENERATION_KILLS ?? 2);
/** Images that are regenerated at once. */
const AT_ONCE = 3;
const DELAY_MS = 300;
/** What is waited for before each kill: jobs that are held, each as it enters one of these steps, or else a call. */
const MOMENTS: readonly (readonly Step[])[] = [
  [],
  ['FINALIZING', 'PROCESSING_MEDIA'],
  [],
  ['GENERATING_IMAGES'],
];

const folder = useDataFolder();
const service = useTestService({ UNBILLED_LIMIT_WORDS: '0', DATA_DIR: folder, IMAGE_PROVIDER: 'pseudo' });

// contract.md G104, G117, G119, G121 and G124
it('an image whose worker is killed again and again is replaced, charged and reported once, or stays as it was', {
  timeout: 120_000 + KILLS * 60_000,
}, async () => {
  const calls = drawing(service);
  const { db } = service;
  const { imagesOf, callsOf, stagedOf, bytesUsed } = imagesIn(service);
  const credits = (KILLS + 1) * AT_ONCE;
  const workspace = await service.workspace(credits);
  await listenToAll(db, workspace.id);
  const model = await startImageModel(DELAY_MS);
  const start = (): Promise<ServiceProcess> => startProcess('worker.ts', { ...service.env, ...model.env });
  const steps = await controlSteps(db);
  /** The images that are regenerated, by their jobs. */
  const made = new Map<string, Asset>();

  const openOnes = () => openJobs(db, [...made.keys()]);
  const fillUp = async (): Promise<void> => {
    for (let open = (await openOnes()).length; open < AT_ONCE; open += 1) {
      const { asset } = await calls.illustrated(workspace, 'published');
      const job = await calls.regenerate(workspace, asset, { prompt: `Bed ${made.size}` });
      made.set(job.id, asset);
    }
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    // While there is no worker, so that no new job is past the step that it is held at.
    await fillUp();
    const before = model.count();
    const open = new Set((await openOnes()).map(({ id }): string => id));
    const newest = [...made.keys()].filter((id) => open.has(id)).reverse();
    const held = new Map(
      (MOMENTS[kill % MOMENTS.length] ?? []).flatMap((step, at) => {
        const id = newest[at];
        return id === undefined ? [] : [[id, step] as const];
      }),
    );
    const isTime = async (): Promise<boolean> =>
      held.size === 0
        ? model.count() > before
        : (await steps.held()) >= (await openJobs(db, [...held.keys()])).length;
    await steps.holdEach(held, async () => {
      const worker = await start();
      await eventually(
        async () => (await isTime()) || (await openOnes()).length === 0,
        (enough) => enough,
        90_000,
      );
      worker.kill('SIGKILL');
      await worker.ended;
    });
  }
  const worker = await start();
  await untilEnded(db, [...made.keys()], 240_000);
  worker.kill('SIGTERM');
  await worker.ended;

  let charged = 0;
  for (const [jobId, asset] of made) {
    const job = await calls.readJob(workspace, jobId);
    const [image] = await imagesOf(job.id);
    expect(image?.calls).toBeLessThanOrEqual(2);
    expect(image?.unanswered).toBeLessThanOrEqual(4);
    expect((await callsOf(job.id)).length).toBeLessThanOrEqual(6);
    expect(await stagedOf(job.id)).toEqual([]);
    const isMade = job.status === 'COMPLETED';
    expect(job).toMatchObject(
      isMade
        ? { consumedCredits: 1 }
        : {
            status: 'FAILED',
            consumedCredits: 0,
            errorMessage: expect.stringMatching(/no whole response|busy or out of reach/),
          },
    );
    charged += job.consumedCredits;
    const now = await calls.readAsset(workspace, asset);
    expect(now.url === asset.url).toBe(!isMade);
    expect(await calls.load(asset.url)).not.toBeNull();
    expect(await calls.load(now.url)).not.toBeNull();
    const { rows } = await sql<{ type: string }>`
      SELECT type FROM events WHERE article_id = ${asset.articleId}::uuid
        AND type IN ('image.regenerated', 'credits.consumed') ORDER BY id`.execute(db);
    expect(rows.map(({ type }) => type)).toEqual(isMade ? ['image.regenerated', 'credits.consumed'] : []);
    if (isMade) {
      const moves = (await steps.movesOf(job.id)).map(({ status }) => status);
      expect(moves).toEqual(['GENERATING_IMAGES', 'PROCESSING_MEDIA', 'FINALIZING', 'COMPLETED']);
    }
  }
  // At the model itself, whatever we have counted.
  expect(Math.max(0, ...model.asked.values())).toBeLessThanOrEqual(6);
  expect(await calls.readWallet(workspace)).toMatchObject({ balance: credits - charged, reserved: 0 });
  expect(charged).toBeGreaterThan(0);
  const { rows: taken } = await sql<{ bytes: number }>`
    SELECT sum(byte_size + variant_bytes)::float8 AS bytes FROM assets WHERE workspace_id = ${workspace.id}`.execute(
    db,
  );
  expect(await bytesUsed(workspace.id)).toBe(taken[0]?.bytes);

  // Whatever lost workers have left goes with its lease and its grace; what an image was before stays.
  const blobs = createLocalBlobStore(blobFolder(folder));
  await sql`UPDATE blobs SET kept_until = now() WHERE kept_until IS NOT NULL`.execute(db);
  for (let round = 0; round < 2; round += 1) {
    await collectBlobs(db, { blobs, graceMs: 0, signal: new AbortController().signal });
  }
  const { rows } = await sql<{ hash: string }>`
    SELECT DISTINCT hash FROM ${NAMED_BLOBS} AS named ORDER BY hash`.execute(db);
  const stored: string[] = [];
  for (const shard of SHARDS) for await (const page of blobs.list(shard)) stored.push(...page);
  expect(stored.toSorted()).toEqual(rows.map(({ hash }) => hash));
  await model.close();
});
