import { describe, expect, it } from 'vitest';
import type { GenerationConfig } from '../../src/generation/config.ts';
import { leaveOut, sectionsLeftOut } from '../../src/generation/left-out.ts';
import { PLAN_PART } from '../../src/generation/parts.ts';
import type { GenerationReport } from '../../src/generation/report.ts';
import type { JobId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { documentOf } from '../articles/support.ts';
import { useGenerations } from '../support/generating.ts';

const { service, workspace, calls, writers } = useGenerations({ credits: 20 });

const DECLINES = { object: null, text: "I'm sorry, but I can't help with that.", truncated: false };
/** Six sections, each a sixth of the words; the third and the last are of level 3. */
const SIX = { wordCount: 1_100 };
const report = async (jobId: string): Promise<GenerationReport> =>
  (await service.call(workspace.key, 'GET', `/api/jobs/${jobId}/report`)).body.report;
/** Has the model decline these sections, counted from 1. */
const declining = (...sections: number[]) => {
  writers.responses = {
    section: async (question) =>
      sections.includes(question.number) ? DECLINES : writers.pseudo.ask(question),
  };
};
const unpaid = () =>
  service.db
    .selectFrom('unpaid_work')
    .select(['reason', 'words'])
    .where('workspace_id', '=', workspace.id)
    .execute();

describe('a section that no call makes usable', () => {
  // contract.md G61 and G64
  it('is left out and not charged; the report names it, and the outline keeps it', async () => {
    declining(3);
    const { article, job } = await calls.generateTo(workspace, SIX);
    expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: 3, consumedCredits: 1 });
    const { sections } = article.outline as { sections: { id: string; heading: string }[] };
    expect(sections).toHaveLength(6);
    const headings = article.documentJson.blocks.flatMap((block) =>
      block.type === 'heading' ? [block.text] : [],
    );
    expect(sections.filter(({ heading }) => !headings.includes(heading)).map(({ id }) => id)).toEqual([
      'section-3',
    ]);
    expect(article.wordCount).toBeGreaterThan(880);
    expect(article.wordCount).toBeLessThan(990);
    const told = await report(job.id);
    expect(told.leftOut).toEqual(['section-3']);
    expect(told.sections.map(({ written, leftOut }) => [written, leftOut])).toEqual(
      sections.map(({ id }) => [id !== 'section-3', id === 'section-3']),
    );
    expect(told.sections[2]?.repairs).toHaveLength(2);
    expect(told.calls.filter(({ part }) => part === PLAN_PART + 3)).toHaveLength(3);
    expect(told.words).toBe(
      told.sections.reduce((sum, { written, words }) => sum + (written ? words : 0), 0),
    );
    expect(await calls.readWallet(workspace)).toEqual({ balance: 19, reserved: 0, available: 19 });
    expect(await unpaid()).toEqual([]);
  });

  // contract.md G61
  it('is left out when the model itself declines, after one call', async () => {
    writers.responses = {
      section: async (question) => {
        if (question.number === 6) throw new ProviderError('refused', 'The model declines.');
        return writers.pseudo.ask(question);
      },
    };
    const { job } = await calls.generateTo(workspace, SIX);
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
    const told = await report(job.id);
    expect(told.leftOut).toEqual(['section-6']);
    expect(told.calls.filter(({ part }) => part === 6)).toHaveLength(1);
  });

  // contract.md G61
  it.each([
    ['two sections of six', () => declining(3, 4)],
    ['a section with the one below it', () => declining(2)],
  ])('fails the run where too much would be missing: %s', async (_, decline) => {
    decline();
    const { article, job } = await calls.generateTo(workspace, SIX);
    expect(job).toMatchObject({
      status: 'FAILED',
      consumedCredits: 0,
      errorMessage: expect.stringMatching(/^No usable text was written for the section/),
    });
    expect(article).toMatchObject({ status: 'DRAFT', documentJson: documentOf() });
    expect((await report(job.id)).leftOut).toEqual([]);
    expect(await unpaid()).toEqual([{ reason: 'failed', words: expect.any(Number) }]);
  });

  // contract.md G61
  it('is the FAQ: the run fails', async () => {
    writers.responses = { faq: async () => DECLINES };
    const { job } = await calls.generateTo(workspace, { ...SIX, faq: true });
    expect(job).toMatchObject({
      status: 'FAILED',
      consumedCredits: 0,
      errorMessage: expect.stringContaining('for the frequently asked questions: the model declined'),
    });
  });

  // contract.md G61 and G62
  it('goes with those below it, also as the last one; nothing below it is asked for', async () => {
    const { article } = await calls.generateTo(workspace, { reviewOutline: true });
    const { outline, etag } = await calls.outline(workspace, article.id);
    const [first] = outline.sections;
    const sections = Array.from({ length: 20 }, (_, index) => ({
      ...first,
      id: `part-${index + 1}`,
      heading: `Part ${index + 1}`,
      level: index === 19 ? 3 : 2,
      estimatedWords: 100,
    }));
    const saved = await calls.saveOutline(workspace, article.id, { ...outline, sections }, etag);
    declining(19);
    writers.asked.length = 0;
    const approval = await calls.approve(workspace, article.id, saved.headers.get('etag') ?? '');
    const job = await calls.untilFinal(workspace, approval.body.job.id);
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
    expect((await report(job.id)).leftOut).toEqual(['part-19', 'part-20']);
    // Beside plan, edits and lead.
    expect(writers.asked).toHaveLength(18 + 3 + 3);
    const { documentJson, outline: kept } = await calls.readArticle(workspace, article.id);
    expect(kept).toMatchObject({ sections });
    expect(
      documentJson.blocks.filter((block) => block.type === 'heading').map((block) => block.text),
    ).toEqual(sections.slice(0, 18).map(({ heading }) => heading));
  });

  // contract.md G61
  it('is left out once, whoever does it, and never when it is written', async () => {
    const { job } = await calls.generateTo(workspace, SIX);
    const jobId = job.id as JobId;
    const config = { wordCount: 1_100, faq: false } as GenerationConfig;
    const parts = () =>
      service.db
        .selectFrom('generation_parts')
        .select(['part', 'left_out', 'content'])
        .where('job_id', '=', jobId)
        .orderBy('part')
        .execute();
    const before = await parts();
    expect(await leaveOut(service.db, jobId, [3], config)).toBe(false);
    expect(await parts()).toEqual(before);
    await service.db
      .updateTable('generation_parts')
      .set({ content: null })
      .where('job_id', '=', jobId)
      .where('part', 'in', [3, 4])
      .execute();
    const both = await Promise.all([3, 3].map((part) => leaveOut(service.db, jobId, [part], config)));
    expect(both).toEqual([true, true]);
    expect(await leaveOut(service.db, jobId, [4], config)).toBe(false);
    expect((await parts()).filter(({ left_out }) => left_out)).toMatchObject([
      { part: 3, content: { blocks: [], words: 0 } },
    ]);
  });

  it('takes those of level 3 behind it along', () => {
    const levels = (...all: (2 | 3)[]) => ({ sections: all.map((level) => ({ level })) }) as never;
    expect([0, 1, 2, 3].map((index) => sectionsLeftOut(levels(2, 3, 3, 2), index))).toEqual([3, 1, 1, 1]);
    expect(sectionsLeftOut(levels(3, 3, 2, 3), 0)).toBe(1);
    expect(sectionsLeftOut(levels(3, 3, 2, 3), 2)).toBe(2);
  });
});

describe('what is charged', () => {
  // contract.md G59 and G60
  it('is no more, and the article no longer, when the model writes ten times as much', async () => {
    writers.responses = {
      section: (question) => writers.pseudo.ask({ ...question, words: question.words * 10 }),
      faq: (question) => writers.pseudo.ask({ ...question, words: question.words * 10 }),
    };
    const { article, job } = await calls.generateTo(workspace, { faq: true });
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
    expect(article.wordCount).toBeLessThanOrEqual(600 * 1.15 + 60);
    expect(article.wordCount).toBeGreaterThan(540);
    const told = await report(job.id);
    expect(told.sections.map(({ mended }) => mended.cut)).toEqual(told.sections.map(() => 1));
    expect(told.sections.map(({ repairs }) => repairs)).toEqual(told.sections.map(() => []));
  });

  // contract.md G60
  it('is nothing when the model writes a tenth: the run fails and says so', async () => {
    writers.responses = {
      section: (question) => writers.pseudo.ask({ ...question, words: Math.ceil(question.words / 10) }),
    };
    const { article, job } = await calls.generateTo(workspace);
    expect(job).toMatchObject({
      status: 'FAILED',
      consumedCredits: 0,
      errorMessage: expect.stringMatching(
        /^The text has \d+ words, less than half of the 600 that were ordered\./,
      ),
    });
    expect(article).toMatchObject({ status: 'DRAFT', documentJson: documentOf() });
    expect(await calls.readWallet(workspace)).toEqual({ balance: 20, reserved: 0, available: 20 });
  });

  // contract.md G60
  it('is the price of the words that came when they are fewer, code among them', async () => {
    const code = (words: number) => `\`\`\`js\n${'let rose = one\n'.repeat(Math.ceil(words / 4))}\`\`\``;
    writers.responses = {
      section: async ({ words }) => ({ object: null, text: code(words * 0.8), truncated: false }),
    };
    const { article, job } = await calls.generateTo(workspace, SIX);
    expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: 3, consumedCredits: 1 });
    expect(article.documentJson.blocks.filter(({ type }) => type === 'code')).toHaveLength(6);
    // Code is no part of an article's wordCount.
    const lead = 150;
    expect(article.wordCount).toBeLessThan(100 + lead);
  });
});

// contract.md G63
it('an outline counts as unpaid work until its article is written', async () => {
  const { article } = await calls.generateTo(workspace, { reviewOutline: true });
  expect(await unpaid()).toEqual([{ reason: 'failed', words: 300 }]);
  const { etag } = await calls.outline(workspace, article.id);
  const approval = await calls.approve(workspace, article.id, etag);
  expect(await calls.untilFinal(workspace, approval.body.job.id)).toMatchObject({ status: 'COMPLETED' });
  expect(await unpaid()).toEqual([]);
});
