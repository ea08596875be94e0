import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { readTextBytes } from '../../src/db/quotas.ts';
import type { Proposal, UnitSources } from '../../src/document/refresh/types.ts';
import type { ArticleId } from '../../src/ids.ts';
import { pseudoLocalize as pseudo } from '../../src/providers/pseudo.ts';
import { SOURCE, textOf, useRefreshes, withTexts } from './support/refreshing.ts';

const { service, workspace, call, translated, save, refreshTo, read, proposals, decide } = useRefreshes();

const statesOf = async (versionId: string) => {
  const { body } = await call('GET', `${versionId}/translations`);
  return body.translations.find(({ article }: { article: { id: string } }) => article.id === versionId)
    ?.states;
};

const sourcesOf = async (versionId: ArticleId): Promise<{ sources: UnitSources; bytes: number }> =>
  service.db
    .selectFrom('article_provenance')
    .select(['sources', 'bytes'])
    .where('article_id', '=', versionId)
    .executeTakeFirstOrThrow();

// contract.md T39
it('a revision restored from before a refresh, and a late save of it, are stale and made again', async () => {
  const { source, version } = await translated();
  const old = (await read(version.id)).documentJson;
  await save(source.id, withTexts(SOURCE, { p1: 'Never open the valve.' }));
  await refreshTo(version.id);
  const { body } = await call('GET', `${version.id}/revisions`);
  const [revision] = body.revisions;
  expect((await call('POST', `${version.id}/revisions/${revision.id}/restore`)).status).toBe(200);
  expect(textOf(await read(version.id), 'p1')).toBe(pseudo('The text of number 1 here.'));
  expect(await statesOf(version.id)).toMatchObject({ current: 12, stale: 1, edited: 0, editedAndStale: 0 });
  await refreshTo(version.id);
  expect(textOf(await read(version.id), 'p1')).toBe(pseudo('Never open the valve.'));
  expect(await statesOf(version.id)).toMatchObject({ current: 13, stale: 0 });
  await save(version.id, old);
  expect(await statesOf(version.id)).toMatchObject({ current: 12, stale: 1, edited: 0 });
});

// contract.md T44, T45
it('keeps what each unit was translated from, counts it, and hands it to proposals', async () => {
  const { source, version } = await translated();
  const versionId = version.id as ArticleId;
  const before = await sourcesOf(versionId);
  expect(before.sources).toMatchObject({
    title: { type: 'text', text: source.title },
    'block:p1': { type: 'block', block: SOURCE.blocks[1] },
  });
  const { rows } = await sql<{ octets: number }>`
    SELECT octet_length(sources::text) AS octets FROM article_provenance WHERE article_id = ${version.id}`.execute(
    service.db,
  );
  expect(before.bytes).toBe(rows[0]?.octets);

  const document = withTexts(SOURCE, { p1: 'A new first text.', p2: 'A new second text.' });
  await save(version.id, withTexts(version.documentJson, { p2: 'De una persona.' }));
  await save(source.id, document);
  await refreshTo(version.id);
  const block = (index: number, from = document) => ({ type: 'block', block: from.blocks[index] });
  const after = (await sourcesOf(versionId)).sources;
  expect([after['block:p1'], after['block:p2']]).toEqual([block(1), block(2, SOURCE)]);
  const stored = await service.db
    .selectFrom('proposals')
    .select('proposal')
    .where('article_id', '=', versionId)
    .executeTakeFirstOrThrow();
  const proposal = stored.proposal as Proposal;
  expect(proposal).toMatchObject({ oldSource: block(2, SOURCE), newSource: block(2) });
  const [listed] = await proposals(version.id);
  expect((await decide(version.id, listed.id, 'reject')).status).toBe(200);
  expect((await sourcesOf(versionId)).sources['block:p2']).toEqual(block(2));
  expect(await statesOf(version.id)).toMatchObject({ current: 13 });

  const used = await readTextBytes(service.db, workspace.id);
  const { bytes } = await sourcesOf(versionId);
  await service.db.deleteFrom('article_provenance').where('article_id', '=', versionId).execute();
  expect(await readTextBytes(service.db, workspace.id)).toBe(used - bytes);
});
