import { randomInt } from 'node:crypto';
import { insertArticle } from '../../src/articles/insert.ts';
import { keepLinks } from '../../src/articles/links/keep.ts';
import type { ArticleRow } from '../../src/articles/queries.ts';
import { renderingColumns } from '../../src/articles/rendering.ts';
import type { Database } from '../../src/db/database.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { countWords } from '../../src/document/format/words.ts';
import { renderDocument } from '../../src/document/render/document.ts';
import { type ArticleId, newId, type ProjectId, type TranslationGroupId } from '../../src/ids.ts';
import type { TestWorkspace } from './service.ts';

export const SHORT_DOCUMENT: DocumentJson = {
  version: 1,
  blocks: [
    { id: 'h', type: 'heading', level: 2, text: 'A garden in spring' },
    { id: 'p', type: 'paragraph', text: 'Water the **young** plants in the morning.', format: 'markdown' },
    { id: 'c', type: 'code', text: 'water(plants)', language: 'js' },
  ],
};

/** A document of many paragraphs with `words` words in all. No text stands twice in it, nor in another that this made. */
export function longDocument(words: number): DocumentJson {
  const perBlock = 50;
  // Digits, so that whoever tells languages takes all of them for the same one.
  const own = randomInt(10 ** 9);
  return {
    version: 1,
    blocks: Array.from({ length: Math.ceil(words / perBlock) }, (_, index) => ({
      id: `p${index}`,
      type: 'paragraph' as const,
      text: Array.from({ length: Math.min(perBlock, words - index * perBlock) }, (_word, word) =>
        word === 0 ? `word${own}n${index}` : `word${String.fromCharCode(97 + (word % 26))}`,
      ).join(' '),
    })),
  };
}

/** An article's row, its body parsed. */
export type TestArticle = Omit<ArticleRow, 'document'> & { document: DocumentJson };

/** An article as an editor would have left it. */
export const createArticle = (
  db: Database,
  workspace: Pick<TestWorkspace, 'id'>,
  projectId: ProjectId,
  article: { title?: string; language?: string; document?: DocumentJson; status?: ArticleRow['status'] } = {},
): Promise<TestArticle> => {
  const document = article.document ?? SHORT_DOCUMENT;
  const rendered = renderDocument(document);
  return db.transaction().execute(async (tx) => {
    const row = await insertArticle(tx, {
      id: newId<ArticleId>(),
      workspace_id: workspace.id,
      project_id: projectId,
      title: article.title ?? 'A garden in spring',
      status: article.status ?? 'DRAFT',
      document: JSON.stringify(document),
      ...renderingColumns(rendered),
      primary_language: article.language ?? 'en',
      translation_group_id: newId<TranslationGroupId>(),
      word_count: countWords(document),
    });
    await keepLinks(tx, { requestId: '' }, row.id, null, rendered.places);
    return { ...row, document };
  });
};
