import { expect, it } from 'vitest';
import type { ArticleId } from '../../src/ids.ts';
import { readQuestion } from '../../src/suggestions/read-question.ts';
import { createArticle } from '../support/articles.ts';
import { useTestService } from '../support/service.ts';

const service = useTestService();

it('an article from before marks were bounded gives its words, and holds nobody up', async () => {
  const workspace = await service.workspace();
  const unclosed = '[a](b'.repeat(40_000);
  const { id } = await createArticle(service.db, workspace, await service.project(workspace));
  const blocks = ['Some *marked* words', unclosed].map((text, index) => ({
    id: `b${index}`,
    type: 'paragraph',
    format: 'markdown',
    text,
  }));
  await service.db
    .updateTable('articles')
    .set({ document: JSON.stringify({ version: 1, blocks }) })
    .where('id', '=', id)
    .execute();
  const question = await readQuestion(service.db, {
    kind: 'article_categories',
    workspaceId: workspace.id,
    targetId: id as ArticleId,
    languages: [],
    result: null,
  });
  expect(question).toMatchObject({ text: `Some marked words\n${unclosed}`.slice(0, 6_000) });
}, 15_000);
