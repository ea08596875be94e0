import { describe, expect, it } from 'vitest';
import type { ArticleId } from '../../src/ids.ts';
import { pseudoLocalize as pseudo } from '../../src/providers/pseudo.ts';
import { listenToAll } from '../support/events.ts';
import { usedBytes } from './support/images.ts';
import { untilWaiting, whileLocked } from './support/locks.ts';
import { SOURCE, textOf, useRefreshes, withTexts } from './support/refreshing.ts';

const {
  service,
  provider,
  workspace,
  call,
  translated,
  save,
  refreshTo,
  read,
  proposals,
  decide,
  moveTo,
  updatesOf,
  addImage,
  limit,
} = useRefreshes();

describe('a proposal', () => {
  it('of a cover takes its bytes when it is accepted, 409 when they do not fit, and gives them back with it', async () => {
    const { source, version } = await translated();
    const hero = await addImage(source.id, 'hero');
    const start = await usedBytes(service, workspace);
    await refreshTo(version.id, { apply: 'none' });
    const [cover] = await proposals(version.id);
    expect(cover).toMatchObject({ action: 'insert', reason: 'asked' });
    await limit(start + 699);
    expect((await decide(version.id, cover.id, 'accept')).body).toMatchObject({
      status: 409,
      details: { reason: 'not_applicable', proposals: [{ id: cover.id, reason: 'quota' }] },
    });
    expect(await usedBytes(service, workspace)).toBe(start);
    // Its block is text.
    await limit(start + 10_700);
    expect((await decide(version.id, cover.id, 'accept')).status).toBe(200);
    expect(await usedBytes(service, workspace)).toBe(start + 700);

    expect((await call('DELETE', `${source.id}/assets/${hero}`)).status).toBe(200);
    await refreshTo(version.id, { apply: 'none' });
    const [removal] = await proposals(version.id);
    expect((await decide(version.id, removal.id, 'accept')).status).toBe(200);
    expect(await usedBytes(service, workspace)).toBe(start - 700);
    await limit(1_000_000_000);
  });

  /** A version with a proposal for p1, which a person has edited. */
  async function proposed() {
    const { source, version } = await translated();
    const edited = withTexts(version.documentJson, { p1: 'Una persona lo escribió.' });
    await save(version.id, edited);
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.' }));
    await refreshTo(version.id);
    const [proposal] = await proposals(version.id);
    return { source, version, edited, proposal };
  }

  // contract.md T36
  it('that is accepted is a save; once what it would change has changed it is 409', async () => {
    const { source, version, edited, proposal } = await proposed();
    expect(proposal.value).toMatchObject({ type: 'block', block: { text: pseudo('A new first text.') } });
    await save(version.id, withTexts(edited, { p1: 'Otra persona.' }));
    expect((await decide(version.id, proposal.id, 'accept')).body).toMatchObject({
      status: 409,
      details: { reason: 'not_applicable', proposals: [{ id: proposal.id, reason: 'changed' }] },
    });
    await save(version.id, withTexts(edited, { p2: 'Aquí nadie propone nada.' }));
    await moveTo(version.id, 'PUBLISHED');
    await listenToAll(service.db, workspace.id);

    const accepted = await decide(version.id, proposal.id, 'accept');
    expect(accepted.status).toBe(200);
    expect(accepted.body.article).toEqual(await read(version.id));
    expect(textOf(accepted.body.article, 'p1')).toBe(pseudo('A new first text.'));
    expect(textOf(accepted.body.article, 'p2')).toBe('Aquí nadie propone nada.');
    expect(accepted.body.article.contentHtml).toContain(pseudo('A new first text.'));
    expect(await updatesOf(version.id)).toMatchObject([{ changed: ['content'] }]);
    expect((await decide(version.id, proposal.id, 'accept')).body).toMatchObject({
      status: 404,
      detail: expect.stringMatching(/accepted, rejected or replaced/),
    });
    expect((await call('GET', `${version.id}/refresh/estimate`)).body.estimate.changedBlocks).toBe(0);
    expect((await call('GET', `${source.id}/proposals`)).body).toEqual({ proposals: [], nextCursor: null });
  });

  it('that is accepted, accepted and rejected at one moment is decided about once', async () => {
    const { version, proposal } = await proposed();
    const decisions = ['accept', 'accept', 'reject', 'reject'] as const;
    const answers = await Promise.all(decisions.map((decision) => decide(version.id, proposal.id, decision)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    const accepted = answers.slice(0, 2).some(({ status }) => status === 200);
    const text = accepted ? pseudo('A new first text.') : 'Una persona lo escribió.';
    expect(textOf(await read(version.id), 'p1')).toBe(text);
    expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
  });

  it('is decided once, for the version as it is at that moment, and not while a job owns it', async () => {
    const { source, version } = await translated();
    const blocks = ['p1', 'p2', 'p3', 'p4'];
    const texts = (text: string) => Object.fromEntries(blocks.map((id) => [id, text]));
    const edited = withTexts(version.documentJson, texts('Una persona lo escribió.'));
    await save(version.id, edited);
    await save(source.id, withTexts(SOURCE, texts('A new text.')));
    await refreshTo(version.id);
    const [p1, p2, p3, p4] = (await proposals(version.id)).map(({ id }: { id: string }) => id);
    await moveTo(version.id, 'PROCESSING');
    for (const decision of ['accept', 'reject'] as const) {
      const { body } = await decide(version.id, p1, decision);
      expect(body).toMatchObject({ status: 409, details: { reason: 'job_running' } });
    }
    await moveTo(version.id, 'NEEDS_REVIEW');

    const atOnce = [
      [p1, 'reject'],
      [p1, 'accept'],
      [p2, 'reject'],
      [p3, 'accept'],
    ] as const;
    let deciding: ReturnType<typeof decide>[] = [];
    await whileLocked(service.db, version.id, async () => {
      deciding = atOnce.map(([id, decision]) => decide(version.id, id, decision));
      await untilWaiting(service.db, atOnce.length);
    });
    const statuses = (await Promise.all(deciding)).map(({ status }) => status);
    expect(statuses.slice(0, 2).sort()).toEqual([200, 404]);
    expect(statuses.slice(2)).toEqual([200, 200]);
    expect(textOf(await read(version.id), 'p3')).toBe(pseudo('A new text.'));

    let late: ReturnType<typeof decide> | undefined;
    const saved = withTexts((await read(version.id)).documentJson, { p4: 'Otra persona.' });
    await service.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('articles')
        .set({ document: JSON.stringify(saved) })
        .where('id', '=', version.id as ArticleId)
        .execute();
      late = decide(version.id, p4, 'accept');
      await untilWaiting(service.db, 1);
    });
    expect((await late)?.body.details.reason).toBe('not_applicable');
    expect(textOf(await read(version.id), 'p4')).toBe('Otra persona.');
    expect((await decide(version.id, p4, 'reject')).status).toBe(200);
    expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
  });

  // contract.md T37
  it('that is rejected leaves the article as it is, up to date with that source', async () => {
    const { source, version, proposal } = await proposed();
    const before = await read(version.id);
    expect((await decide(version.id, proposal.id, 'reject')).body).toEqual({ ok: true });
    expect(await read(version.id)).toEqual(before);
    expect(await proposals(version.id)).toEqual([]);
    expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
    await save(source.id, withTexts(SOURCE, { p1: 'A newer first text.' }));
    expect((await call('GET', `${version.id}/refresh/estimate`)).body.estimate.changedBlocks).toBe(1);
  });

  // contract.md T38
  it('is the only one of its block, is not bought again, and gives way to that of a newer source', async () => {
    const { source, version, proposal } = await proposed();
    let asked = 0;
    provider.behave = async () => {
      asked += 1;
    };
    expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.', p5: 'A new fifth text.' }));
    await refreshTo(version.id);
    expect(await proposals(version.id)).toEqual([proposal]);
    expect(asked).toBe(1);
    await save(source.id, withTexts(SOURCE, { p1: 'A newer first text.', p5: 'A new fifth text.' }));
    await refreshTo(version.id);
    expect(await proposals(version.id)).toMatchObject([
      { unit: 'block:p1', value: { block: { text: pseudo('A newer first text.') } } },
    ]);
    expect(asked).toBe(2);
    await call('DELETE', version.id);
    const left = await service.db
      .selectFrom('proposals')
      .select('id')
      .where('id', '=', proposal.id)
      .execute();
    expect(left).toEqual([]);
  });
});
