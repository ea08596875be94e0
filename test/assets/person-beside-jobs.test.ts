import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Asset } from '../../src/assets/schemas.ts';
import { documentOf, editing, paragraph } from '../articles/support.ts';
import { picture, useDrawing } from '../support/drawing.ts';

const { service, workspace, calls, provider } = useDrawing();
const editor = () => editing(service, workspace);
const hero = (articleId: string): string => `/api/articles/${articleId}/hero`;
const send = async (articleId: string, red: number): Promise<Asset> => {
  const { status, body } = await editor().upload('PUT', hero(articleId), await picture(red));
  expect(status).toBeLessThan(300);
  return body.asset;
};
const cover = async (articleId: string): Promise<Asset | undefined> => {
  const { body } = await service.call(workspace.key, 'GET', `/api/articles/${articleId}/assets`);
  return body.assets.find(({ role }: Asset) => role === 'hero');
};
/** What the images of the workspace take, as their rows say. */
const bytesOfAssets = async (): Promise<number | undefined> => {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(byte_size + variant_bytes), 0)::float8 AS bytes FROM assets WHERE workspace_id = ${workspace.id}`.execute(
    service.db,
  );
  return rows[0]?.bytes;
};

/** What a person may do to a cover, and the events that say so. */
const ACTS = {
  replaces: { act: async (asset: Asset) => void (await send(asset.articleId, 200)), regenerated: 1 },
  deletes: {
    act: async ({ id, articleId }: Asset) => {
      const { status } = await service.call(
        workspace.key,
        'DELETE',
        `/api/articles/${articleId}/assets/${id}`,
      );
      expect(status).toBeLessThan(300);
    },
    regenerated: 0,
  },
  regenerates: {
    act: async (asset: Asset) =>
      expect((await calls.regenerateTo(workspace, asset)).status).toBe('COMPLETED'),
    regenerated: 1,
  },
} as const;
type Act = keyof typeof ACTS;

/** Holds the first text that the engine gets until `act` is done, and returns the job as it ended. */
async function whileTranslating(path: string, body: object, act: () => Promise<void>) {
  let done: Promise<void> | undefined;
  provider.behave = () => {
    done ??= act();
    return done;
  };
  const { status, body: queued } = await service.call(workspace.key, 'POST', path, body);
  expect(status, JSON.stringify(queued)).toBe(202);
  const job = await calls.untilFinal(workspace, queued.job.id);
  await done;
  expect(job.status).toBe('COMPLETED');
  return job.articleId;
}

async function covered(): Promise<{ id: string; asset: Asset }> {
  const { id } = await editor().create(await service.project(workspace), {
    documentJson: documentOf(paragraph('Text about beds.')),
  });
  return { id, asset: await send(id, 1) };
}

/** The cover has the bytes it had after the act; nothing is counted or reported twice. */
async function expectKept(articleId: string, kept: Asset | undefined, act: Act): Promise<void> {
  if (kept !== undefined) {
    const now = await cover(articleId);
    expect(now?.id).toBe(kept.id);
    const served = await calls.load(kept.url);
    expect(served).not.toBeNull();
    expect(await calls.load(now?.url ?? '')).toEqual(served);
  }
  expect(await editor().storageUsed()).toBe(await bytesOfAssets());
  const told = (await editor().eventTypes(articleId)).filter((event) => event === 'image.regenerated');
  expect(told).toHaveLength(ACTS[act].regenerated);
}

describe.each(Object.keys(ACTS) as Act[])('a person who %s a cover', (act) => {
  it('of the source while it is translated: theirs stays, and the version has one of the two or none', async () => {
    const { id, asset } = await covered();
    let kept: Asset | undefined;
    const version = await whileTranslating(
      `/api/articles/${id}/translations`,
      { language: 'es' },
      async () => {
        await ACTS[act].act(asset);
        kept = await cover(id);
      },
    );
    await expectKept(id, kept, act);
    const copy = await cover(version);
    if (copy !== undefined) expect(await calls.load(copy.url)).not.toBeNull();
    if (act !== 'deletes') expect(copy).toBeDefined();
  });

  it('of the version while it is refreshed with another cover of the source: theirs stays, and a deleted one does not come back', async () => {
    const { id } = await covered();
    const version = await whileTranslating(
      `/api/articles/${id}/translations`,
      { language: 'es' },
      async () => undefined,
    );
    await editor().patch(id, { documentJson: documentOf(paragraph('Another text about beds.')) });
    const newest = await send(id, 50);
    const copy = await cover(version);
    if (copy === undefined) throw new Error('the version has no cover');
    let kept: Asset | undefined;
    await whileTranslating(`/api/articles/${version}/refresh`, {}, async () => {
      await ACTS[act].act(copy);
      kept = await cover(version);
    });
    await expectKept(version, kept, act);
    if (act !== 'deletes') return;
    // What comes in its place is the source's new one, as after a refresh that begins later.
    const after = await cover(version);
    expect(after?.id).not.toBe(copy.id);
    expect(await calls.load(after?.url ?? '')).toEqual(await calls.load(newest.url));
  });
});
