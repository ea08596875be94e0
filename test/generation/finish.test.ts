import { describe, expect, it } from 'vitest';
import { readParts, storePart } from '../../src/generation/parts.ts';
import type { JobId } from '../../src/ids.ts';
import type { ChatResponse } from '../../src/providers/chat-model.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { useGenerations } from '../support/generating.ts';

const { service, workspace, calls, writers } = useGenerations({ credits: 20 });

/** Of one section, for the same credit. */
const SHORT = { wordCount: 200, imageCount: 0 };
const report = async (jobId: string) => {
  const { status, body } = await service.call(workspace.key, 'GET', `/api/jobs/${jobId}/report`);
  expect(status).toBe(200);
  return body.report;
};
const object = (value: object): ChatResponse => ({ object: { ...value }, truncated: false });
const text = (words: string): ChatResponse => ({ object: null, text: words, truncated: false });
type Blocks = { id: string; type: string; text?: string }[];
const blocksOf = (article: { documentJson: unknown }): Blocks =>
  (article.documentJson as { blocks: Blocks }).blocks;

describe('a finished draft', () => {
  // contract.md G83 and G86
  it('is edited, then led in: the lead is written last, stands first, and no heading stands before it', async () => {
    const { article, job } = await calls.generateTo(workspace, { faq: true, wordCount: 800 });
    expect(writers.asked.slice(-3)).toEqual(['faq', 'edits', 'lead']);
    const blocks = blocksOf(article);
    expect(blocks[0]).toMatchObject({ id: 'lead-1', type: 'paragraph' });
    expect(blocks[0]?.text).toMatch(/^This is a pseudo lead/);
    expect(blocks.filter(({ id }) => id.startsWith('lead-')).length).toBe(
      blocks.findIndex(({ type }) => type === 'heading'),
    );
    expect(article.wordCount).toBe(800);
    expect(JSON.stringify(blocks)).toContain('This is edited pseudo text instead of');
    const { editing, lead, checks } = await report(job.id);
    expect(editing).toMatchObject({
      written: true,
      leftOut: false,
      edits: [{ change: 'replaced', reason: 'A pseudo edit, made without a model, changes no meaning.' }],
      refused: 0,
      unread: 0,
    });
    expect(blocks.map(({ id }) => id)).toContain(editing.edits[0].blockId);
    expect(lead).toMatchObject({ written: true, leftOut: false, words: 55, named: true });
    expect(checks.lengths.map(({ id }: { id: string }) => id)).toEqual([
      ' lead',
      ...(article.outline as { sections: { id: string }[] }).sections.map(({ id }) => id),
      ' faq',
    ]);
    const planned = checks.lengths.reduce((sum: number, each: { planned: number }) => sum + each.planned, 0);
    expect(planned).toBe(800);
  });

  // contract.md G71 and G72
  it('has near copies handed to its editor, and those that stay in the report', async () => {
    const copy = (count: number, number: number) =>
      Array.from({ length: count }, (_, index) =>
        number > 1 && index % 6 === number ? `other${number}` : `word${index}x`,
      ).join(' ');
    let told: unknown;
    writers.responses = {
      section: async ({ number, words }) => text(`${copy(words, number)}.`),
      edits: async ({ found }) => {
        told = found.nearCopies;
        const reason = 'Says what block 1 says.';
        return object({ edits: [{ block: 2, action: 'replace', text: 'Something else.', reason }] });
      },
    };
    const { job } = await calls.generateTo(workspace);
    expect(told).toEqual([
      { block: 2, of: 1 },
      { block: 3, of: 1 },
    ]);
    const { editing, checks } = await report(job.id);
    expect(editing).toMatchObject({ written: true, edits: [], refused: 1 });
    expect(checks.nearCopies).toHaveLength(2);
  });

  // contract.md G74
  it.each([
    ['is refused', () => Promise.reject(new ProviderError('refused', 'No.'))],
    ['is cut off', async () => ({ object: null, truncated: true })],
    ['says nothing usable', async () => object({ edits: 'none', lead: 4 })],
    [
      'breaks off six times',
      () =>
        Promise.reject(
          new ProviderError('retryable', 'It broke off.', { retryAfterMs: 1, unanswered: true }),
        ),
    ],
  ] as [string, () => Promise<ChatResponse>][])(
    'is delivered when its pass and its lead %s',
    async (_, fails) => {
      writers.responses = { edits: fails, lead: fails };
      const { article, job } = await calls.generateTo(workspace, SHORT);
      expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1, errorMessage: null });
      expect(blocksOf(article)[0]).toMatchObject({ type: 'heading' });
      const { editing, lead } = await report(job.id);
      expect(editing).toMatchObject({ written: false, leftOut: true, edits: [] });
      expect(lead).toMatchObject({ written: false, leftOut: true, named: false });
      const outline = article.outline as Record<string, string>;
      expect(article).toMatchObject({ title: outline.title, metaTitle: outline.metaTitle });
      for (const kind of ['edits', 'lead'] as const) {
        const asked = writers.asked.filter((each) => each === kind).length;
        expect(asked).toBe(_ === 'breaks off six times' ? 6 : _ === 'is refused' ? 1 : 3);
      }
    },
  );

  // contract.md G85
  it('is named anew where nobody approved its outline, and as a person approved it otherwise', async () => {
    const named = {
      title: 'A better title',
      slug: 'a-better-title',
      metaTitle: 'Better',
      metaDescription: 'A better description.',
    };
    writers.responses = { lead: async () => object({ lead: 'The garden begins here.', ...named }) };
    const { article } = await calls.generateTo(workspace, SHORT);
    expect(article).toMatchObject({
      ...named,
      outline: { title: expect.stringMatching(/^Pseudo article/) },
    });
    const { article: outlined } = await calls.generateTo(workspace, { reviewOutline: true });
    const { etag, outline: planned } = await calls.outline(workspace, outlined.id);
    const { job } = (await calls.approve(workspace, outlined.id, etag)).body;
    await calls.untilFinal(workspace, job.id);
    const approved = await calls.readArticle(workspace, outlined.id);
    expect(approved.title).toBe(planned.title);
    expect(approved.metaDescription).toBe(planned.metaDescription);
    expect(blocksOf(approved)[0]).toMatchObject({ id: 'lead-1', text: 'The garden begins here.' });
    expect((await report(job.id)).lead).toMatchObject({ written: true, named: false });
  });

  // contract.md G86
  it('keeps the reasons of edits and what the checks found to itself while its job is not COMPLETED', async () => {
    writers.behave = async (what) => {
      if (what === 'lead') throw new ProviderError('misconfigured', 'The key is wrong.');
    };
    const { job } = await calls.generate(workspace);
    const { editing, checks } = await expect
      .poll(() => report(job.id), { timeout: 60_000 })
      .toMatchObject({ editing: { written: true } })
      .then(() => report(job.id));
    expect(editing.edits).toMatchObject([{ change: 'replaced', reason: null }]);
    expect(checks).toBeNull();
    expect((await service.call(workspace.key, 'POST', `/api/jobs/${job.id}/cancel`)).status).toBe(202);
    await calls.untilFinal(workspace, job.id);
  });

  // contract.md G75
  it('takes edits with the texts they made at once, once, and none that come too late', async () => {
    const { job } = await calls.generateTo(workspace);
    const jobId = job.id as JobId;
    const parts = await readParts(service.db, jobId);
    const section = parts.find(({ kind }) => kind === 'section');
    const edits = parts.find(({ kind }) => kind === 'edits');
    if (section === undefined || edits === undefined) throw new Error('no parts');
    expect(section.revised).not.toEqual(section.content);
    const late = {
      content: { edits: [] },
      words: 1,
      key: 'late',
      revised: new Map([[section.part, { blocks: [] }]]),
    };
    await storePart(service.db, jobId, edits.part, late);
    await service.db
      .updateTable('generation_parts')
      .set({ content: null })
      .where('job_id', '=', jobId)
      .where('part', '=', edits.part)
      .execute();
    await storePart(service.db, jobId, edits.part, late);
    const after = await readParts(service.db, jobId);
    expect(after.find(({ kind }) => kind === 'section')?.revised).toEqual(section.revised);
    expect(after.find(({ kind }) => kind === 'edits')?.content).toBeNull();
  });
});
