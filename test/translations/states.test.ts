import { expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { doSmallTask } from '../../src/threads/pool.ts';
import type { ListedTranslation } from '../../src/translations/schemas.ts';
import { createArticle } from '../support/articles.ts';
import { useTranslations } from '../support/translating.ts';

const { service, workspace, calls } = useTranslations();

const paragraph = (id: string, text: string) => ({ id, type: 'paragraph' as const, text });
const DOCUMENT: DocumentJson = {
  version: 1,
  blocks: ['one', 'two', 'three', 'four', 'five', 'six'].map((id) => paragraph(id, `The words of ${id}.`)),
};

const list = async (articleId: string): Promise<ListedTranslation[]> => {
  const response = await service.call(workspace.key, 'GET', `/api/articles/${articleId}/translations`);
  expect(response.status).toBe(200);
  return response.body.translations;
};

const save = async (articleId: string, changes: object): Promise<void> => {
  const response = await service.call(workspace.key, 'PATCH', `/api/articles/${articleId}`, changes);
  expect(response.status).toBe(200);
};

/** A source of six blocks and its translation. */
async function translated() {
  const source = await createArticle(service.db, workspace, await service.project(workspace), {
    document: DOCUMENT,
  });
  const { article: version, job } = await calls.translateTo(workspace, source.id);
  return { source, version, job };
}

// contract.md T22
it('lists each version with its job and what has changed on either side since it was translated', async () => {
  const { source, version, job } = await translated();
  const [original, fresh] = await list(source.id);
  expect(original).toMatchObject({ tracking: 'unmanaged', states: null, job: null, sourceArticleId: null });
  // Six blocks and five fields beside them.
  const current = { current: 11, stale: 0, edited: 0, editedAndStale: 0, new: 0, gone: 0 };
  expect(fresh).toMatchObject({ tracking: 'managed', states: current, sourceArticleId: source.id });
  expect(fresh?.job).toEqual(job);
  expect(fresh?.article).toMatchObject({ id: version.id, status: 'NEEDS_REVIEW', primaryLanguage: 'es' });

  const blocks = DOCUMENT.blocks.filter(({ id }) => id !== 'six');
  await save(source.id, {
    documentJson: {
      version: 1,
      blocks: [
        paragraph('new', 'A new block.'),
        ...blocks.map((block) =>
          ['one', 'two'].includes(block.id) ? paragraph(block.id, 'Other words.') : block,
        ),
      ],
    },
  });
  await save(version.id, {
    title: 'Un título',
    documentJson: {
      version: 1,
      blocks: version.documentJson.blocks.flatMap((block) => {
        if (block.id === 'five') return [];
        return ['two', 'three'].includes(block.id) ? paragraph(block.id, 'Otras palabras.') : block;
      }),
    },
  });
  const [, changed] = await list(version.id);
  // The title and block three were edited, block two on both sides; block five was taken out.
  expect(changed?.states).toEqual({ current: 5, stale: 1, edited: 2, editedAndStale: 1, new: 1, gone: 1 });
});

// contract.md T22
it('a save that changes nothing of the words leaves every unit as it was', async () => {
  const { source, version } = await translated();
  await save(version.id, { documentJson: version.documentJson, metaDescription: null });
  await save(version.id, { documentJson: { version: 1, blocks: version.documentJson.blocks.toReversed() } });
  const [, listed] = await list(source.id);
  expect(listed?.states).toMatchObject({ current: 11 });
});

// contract.md T23
it('tells versions whose source was deleted, or that were made by hand', async () => {
  const { version } = await translated();
  await service.db
    .deleteFrom('article_provenance')
    .where('article_id', '=', version.id as never)
    .execute();
  expect((await list(version.id))[1]).toMatchObject({ tracking: 'unmanaged', states: null });
  const other = await translated();
  const deleted = await service.call(workspace.key, 'DELETE', `/api/articles/${other.source.id}`);
  expect(deleted.status).toBe(200);
  expect(await list(other.version.id)).toMatchObject([
    { tracking: 'source_gone', states: null, sourceArticleId: other.source.id },
  ]);
});

// contract.md T24
it('compares what is much to compare on a thread, never on the event loop', () => {
  const long = JSON.stringify({ text: 'word '.repeat(10_000) });
  expect(doSmallTask('states', long, new Map(), new Map())).toBeUndefined();
  // Nor many versions that are small each.
  const versions = Array.from({ length: 100 }, (_, index) => [`${index}`, JSON.stringify(DOCUMENT)] as const);
  expect(doSmallTask('states', '{}', new Map(versions), new Map())).toBeUndefined();
});
