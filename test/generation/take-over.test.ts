import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { useGenerations } from '../support/generating.ts';
import { hang } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, workspace, calls, writers } = useGenerations({ credits: 100 });

const SECTION = 'section';
/** Of an outline, a plan, five sections and a FAQ. */
const SETTINGS = { wordCount: 1_250, faq: true, imageCount: 0 };
const ENGINE_AWAY = new ProviderError('fatal', 'The model is away.');

/** Lets so many sections be written; what it is asked for after them fails. */
function failAfter(
  sections: number,
  error: (signal: AbortSignal) => Promise<void> = () => Promise.reject(ENGINE_AWAY),
): void {
  let written = 0;
  writers.responses.section = async (question) => {
    if (written === sections) await error(question.signal);
    written += 1;
    return writers.pseudo.ask(question);
  };
}
const recover = () => {
  writers.behave = async () => undefined;
  writers.responses = {};
  writers.asked = [];
};

/** An empty draft whose first run failed at its third section. */
async function failed(): Promise<string> {
  recover();
  failAfter(2);
  const { article, job } = await calls.generateTo(workspace, SETTINGS);
  expect(job).toMatchObject({ status: 'FAILED', consumedCredits: 0 });
  expect(writers.asked.filter((kind) => kind === SECTION)).toHaveLength(3);
  recover();
  return article.id;
}

/** Generates the draft again, to its end; returns what the model was asked for. */
async function again(articleId: string, body: Record<string, unknown> = {}) {
  const answer = await calls.draft(workspace, articleId, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  const job = await calls.untilFinal(workspace, answer.body.job.id);
  return { job, asked: [...writers.asked] };
}
/** Generates the draft again by a model that is away: whether an outline is the first that it is asked for. */
async function startsOver(articleId: string): Promise<boolean> {
  recover();
  writers.behave = () => Promise.reject(ENGINE_AWAY);
  const { job, asked } = await again(articleId);
  recover();
  expect(job.status).toBe('FAILED');
  return asked[0] === 'outline';
}
const report = async (jobId: string) =>
  (await service.call(workspace.key, 'GET', `/api/jobs/${jobId}/report`)).body.report;
const unpaidWords = async () =>
  (
    await service.db
      .selectFrom('unpaid_work')
      .select(['reason', 'words'])
      .where('workspace_id', '=', workspace.id)
      .orderBy('created_at')
      .execute()
  ).map(({ reason, words }) => `${reason} ${words}`);

// contract.md G89
it('a run after one that failed asks for no part again that is finished, and is charged in full', async () => {
  const articleId = await failed();
  const { job, asked } = await again(articleId);
  expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 2 });
  expect(asked).not.toContain('outline');
  expect(asked).not.toContain('plan');
  const { sections, calls: made } = await report(job.id);
  expect(asked.filter((kind) => kind === SECTION)).toHaveLength(sectionsLeft({ sections }));
  expect(sections.map(({ takenOver }: { takenOver: boolean }) => takenOver)).toEqual([
    true,
    true,
    ...sections.slice(2).map(() => false),
  ]);
  expect(made).toHaveLength(asked.length);
  // Paid once, they are given to nobody else.
  const keys = await service.db
    .selectFrom('generation_parts')
    .innerJoin('jobs', 'jobs.id', 'generation_parts.job_id')
    .select('key')
    .where('jobs.article_id', '=', articleId as never)
    .where('jobs.status', '=', 'FAILED')
    .where('content', 'is not', null)
    .execute();
  expect(keys.length).toBeGreaterThan(2);
  expect(keys.every(({ key }) => key === null)).toBe(true);
});
const sectionsLeft = ({ sections }: { sections: { kind: string }[] }) =>
  sections.filter(({ kind }) => kind === SECTION).length - 2;

// contract.md G89
it('takes over what several failed runs have written, one after the other', async () => {
  const articleId = await failed();
  failAfter(1);
  expect((await again(articleId)).job.status).toBe('FAILED');
  recover();
  const { job, asked } = await again(articleId);
  expect(job.status).toBe('COMPLETED');
  expect(asked.filter((kind) => kind === SECTION)).toHaveLength(sectionsLeft(await report(job.id)) - 1);
});

// contract.md G89
it.each([
  ['fresh', { fresh: true }],
  [
    'another setting',
    {
      generationConfig: { ...SETTINGS, topic: 'A garden in spring', writingQuality: 'standard', tone: 'dry' },
    },
  ],
])('takes nothing over with %s', async (_, body) => {
  const articleId = await failed();
  const { job, asked } = await again(articleId, body);
  expect(job.status).toBe('COMPLETED');
  expect(asked).toContain('outline');
  const { sections } = await report(job.id);
  expect(asked.filter((kind) => kind === SECTION)).toHaveLength(
    sections.filter(({ kind }: { kind: string }) => kind === SECTION).length,
  );
});

// contract.md G89
it('takes nothing over from a run that was cancelled, that is older than seven days, or whose settings were pruned', async () => {
  let held = false;
  failAfter(2, async (signal) => {
    held = true;
    return hang(signal);
  });
  const { article, job } = await calls.generate(workspace, SETTINGS);
  await eventually(
    async () => held,
    (isHeld) => isHeld,
  );
  await calls.cancel(workspace, job.id);
  expect(await startsOver(article.id)).toBe(true);

  const articleId = await failed();
  const jobs = service.db
    .selectFrom('jobs')
    .select('id')
    .where('article_id', '=', articleId as never);
  const ended = (ended_at: Date) =>
    service.db.updateTable('jobs').set({ ended_at }).where('id', 'in', jobs).execute();
  await ended(new Date(Date.now() - 7 * 86_400_000));
  expect(await startsOver(articleId)).toBe(true);
  await ended(new Date());
  await service.db.updateTable('generations').set({ config: null }).where('job_id', 'in', jobs).execute();
  expect(await startsOver(articleId)).toBe(true);
});

// contract.md G89
it('takes nothing over from a run that the model refused, whose text was in another language, or had less than half its length', async () => {
  failAfter(2, () => Promise.reject(new ProviderError('refused', 'The model declines.')));
  const refused = await calls.generateTo(workspace, SETTINGS);
  expect(await startsOver(refused.article.id)).toBe(true);

  failAfter(2, () => Promise.reject(new ProviderError('unusable', 'No text.', { defects: ['language'] })));
  const foreign = await calls.generateTo(workspace, SETTINGS);
  expect(await startsOver(foreign.article.id)).toBe(true);

  writers.responses.section = async ({ number }) => ({
    object: null,
    text: `The garden wakes up in week ${number}, and there is not much more to say.`,
    truncated: false,
  });
  const short = await calls.generateTo(workspace, { ...SETTINGS, wordCount: 600 });
  expect(short.job).toMatchObject({
    status: 'FAILED',
    errorMessage: expect.stringMatching(/less than half/),
  });
  expect(await startsOver(short.article.id)).toBe(true);
});

// contract.md G89
it('an approval takes over what was written from the same outline, unless it is to be fresh', async () => {
  const { article } = await calls.generateTo(workspace, { ...SETTINGS, reviewOutline: true });
  const approve = async (body: Record<string, unknown> = {}) => {
    recover();
    const { etag } = await calls.outline(workspace, article.id);
    return calls.approve(workspace, article.id, etag, body);
  };
  const first = await approve();
  failAfter(2);
  expect((await calls.untilFinal(workspace, first.body.job.id)).status).toBe('FAILED');
  const second = await approve({ fresh: true });
  failAfter(1);
  await calls.untilFinal(workspace, second.body.job.id);
  expect(writers.asked.filter((kind) => kind === SECTION)).toHaveLength(2);
  const third = await approve();
  const job = await calls.untilFinal(workspace, third.body.job.id);
  expect(job.status).toBe('COMPLETED');
  expect(writers.asked).not.toContain('plan');
});

// contract.md G90
it('words of parts that a later run pays for are taken out of the unpaid work; those of a cancelled one count once', async () => {
  const unusable = () => Promise.reject(new ProviderError('unusable', 'No text.', { defects: ['shape'] }));
  failAfter(2, unusable);
  const first = await calls.generateTo(workspace, SETTINGS);
  const [counted] = await unpaidWords();
  expect(counted).toMatch(/^failed \d{3,}$/);
  recover();
  let held = false;
  failAfter(0, async (signal) => {
    held = true;
    return hang(signal);
  });
  const { body } = await calls.draft(workspace, first.article.id, {});
  await eventually(
    async () => held,
    (isHeld) => isHeld,
  );
  await calls.cancel(workspace, body.job.id);
  const parts = await service.db
    .selectFrom('generation_parts')
    .select(['words', 'asked', 'taken_over'])
    .where('job_id', '=', body.job.id as JobId)
    .execute();
  const underWay = parts.filter(({ asked, taken_over }) => asked && !taken_over);
  expect(await unpaidWords()).toEqual([
    counted,
    `cancelled ${underWay.reduce((sum, { words }) => sum + words, 0)}`,
  ]);
  recover();
  expect((await again(first.article.id)).job.status).toBe('COMPLETED');
  const [left] = await unpaidWords();
  const takenOver = parts.filter(({ taken_over }) => taken_over).reduce((sum, { words }) => sum + words, 0);
  expect(takenOver).toBeGreaterThan(300);
  expect(left).toBe(`failed ${Number(counted?.split(' ')[1]) - takenOver}`);
});
