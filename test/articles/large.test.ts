import { beforeAll, expect, it } from 'vitest';
import type { ProjectId } from '../../src/ids.ts';
import { areSmall } from '../../src/threads/pool.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { documentOf, editing } from './support.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;

beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
});

const large = (last: string) =>
  documentOf(
    ...Array.from({ length: 300 }, (_, index) => ({
      id: `b${index}`,
      type: 'paragraph',
      text: `${'Water the *young* plants at "noon" \\u2028 in <beds>. '.repeat(10)}${index}`,
      format: 'markdown',
    })),
    { id: 'last', type: 'paragraph', text: last, format: 'markdown' },
  );

it('a large article is answered as it was sent, rendered and counted, and its tag is good for the next save', async () => {
  const editor = editing(service, workspace);
  const sent = large('The end.');
  expect(areSmall([JSON.stringify(sent)])).toBe(false);
  const { id, wordCount } = await editor.create(projectId, { documentJson: sent });
  expect(wordCount).toBeGreaterThan(20_000);
  const read = await editor.call('GET', `/api/articles/${id}`);
  expect(read.body.article.documentJson).toEqual(sent);
  expect(read.body.article.contentHtml.endsWith('<p>The end.</p>')).toBe(true);
  const etag = read.headers.get('etag') ?? '';
  const saved = await editor.patch(id, { documentJson: large('Another end.') }, etag);
  expect(saved.body.article.contentMarkdown.endsWith('Another end.\n')).toBe(true);
  expect((await editor.patch(id, { documentJson: sent }, etag)).status).toBe(412);
});

it('a bad large body is refused together with the other fields, and changes nothing', async () => {
  const editor = editing(service, workspace);
  const { id } = await editor.create(projectId);
  const before = await editor.read(id);
  const response = await editor.patch(id, { title: '', documentJson: large('[x](javascript:y)') });
  expect(response.status).toBe(400);
  expect(response.body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
    '/documentJson/blocks/300/text',
    '/title',
  ]);
  expect(await editor.read(id)).toEqual(before);
});
