import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/generation/writing/plan.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { documentOf, editing } from '../articles/support.ts';
import { useGenerations } from '../support/generating.ts';

const { service, workspace, calls, writers } = useGenerations({ credits: 20 });
/** Of one section, for the same credit. */
const SHORT = { wordCount: 200, imageCount: 0 };
const report = async (jobId: string) =>
  (await service.call(workspace.key, 'GET', `/api/jobs/${jobId}/report`)).body.report;

/** The plans that the sections were written by. */
function plansOfSections(): (Plan | null | undefined)[] {
  const plans: (Plan | null | undefined)[] = [];
  writers.responses.section = (question) => {
    plans.push(question.article?.plan);
    return writers.pseudo.ask(question);
  };
  return plans;
}

describe('the plan of a text', () => {
  // contract.md G65
  it('is the first call of WRITING, from the outline as it stands, and all sections are written by it', async () => {
    const plans = plansOfSections();
    const { article } = await calls.generateTo(workspace, { reviewOutline: true });
    const { outline, etag } = await calls.outline(workspace, article.id);
    const [first, ...others] = outline.sections;
    const edited = { ...outline, sections: [{ ...first, purpose: 'Told by a person.' }, ...others] };
    const saved = await calls.saveOutline(workspace, article.id, edited, etag);
    const { body } = await calls.approve(workspace, article.id, saved.headers.get('etag') ?? '');
    await calls.untilFinal(workspace, body.job.id);
    expect(writers.asked.slice(0, 3)).toEqual(['outline', 'plan', 'section']);
    expect(plans).toHaveLength(outline.sections.length);
    expect(new Set(plans.map((plan) => JSON.stringify(plan))).size).toBe(1);
    expect(plans[0]?.sections[0]).toMatchObject({ id: first?.id, adds: 'Told by a person.' });
    const { plan, calls: made } = await report(body.job.id);
    expect(plan).toEqual({ used: true, repairs: [] });
    expect(made.map(({ kind }: { kind: string }) => kind).slice(0, 2)).toEqual(['plan', 'section']);
  });

  const unanswered = () =>
    new ProviderError('retryable', 'It broke off.', { retryAfterMs: 1, unanswered: true });
  const cases: [string, number, () => Error | null][] = [
    ['that the model declines', 1, () => new ProviderError('refused', 'No.')],
    ['that the model does not accept', 1, () => new ProviderError('fatal', 'No.')],
    ['that is never usable', 3, () => null],
    ['that is never whole', 6, unanswered],
  ];
  // contract.md G66
  it.each(cases)('%s fails no run: the sections go by the outline', async (_, times, failure) => {
    const plans = plansOfSections();
    writers.responses.plan = async () => {
      const error = failure();
      if (error !== null) throw error;
      return { object: { reader: 'Nobody' }, truncated: false };
    };
    const { article, job } = await calls.generateTo(workspace, SHORT);
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
    expect(article.status).toBe('NEEDS_REVIEW');
    expect(writers.asked.filter((kind) => kind === 'plan')).toHaveLength(times);
    expect(plans.length).toBeGreaterThan(0);
    for (const plan of plans) expect(plan).toBeNull();
    expect((await report(job.id)).plan).toMatchObject({ used: false });
  });

  // contract.md G66
  it('is made as soon as a model is back that was away', async () => {
    let busy = 3;
    writers.behave = async (kind) => {
      if (kind !== 'plan') return;
      busy -= 1;
      if (busy >= 0) throw new ProviderError('retryable', 'It is busy.', { retryAfterMs: 1 });
    };
    const { job } = await calls.generateTo(workspace, SHORT);
    expect(job.status).toBe('COMPLETED');
    expect(writers.asked.filter((kind) => kind === 'plan')).toHaveLength(4);
    expect((await report(job.id)).plan).toEqual({ used: true, repairs: [] });
  });
});

// contract.md G67
it('title and keywords of a person go to the writer as they were when the run began, and a title from the topic does not', async () => {
  const told: unknown[] = [];
  const edit = editing(service, workspace);
  for (const kind of ['outline', 'plan', 'section'] as const) {
    writers.responses[kind] = async (question: { brief: { title: unknown; keywords: unknown } }) => {
      told.push([question.brief.title, question.brief.keywords]);
      return writers.pseudo.ask(question as never);
    };
  }
  const draft = await edit.create(await service.project(workspace), {
    title: 'Ten tools for beginners',
    targetKeywords: ['garden tools'],
    secondaryKeywords: ['spade'],
    documentJson: documentOf(),
  });
  const { body } = await calls.draft(workspace, draft.id, {
    generationConfig: { topic: 'Tools', wordCount: 300, imageCount: 0 },
  });
  await calls.untilFinal(workspace, body.job.id);
  expect(told.length).toBeGreaterThan(2);
  for (const each of told) expect(each).toEqual(['Ten tools for beginners', ['garden tools', 'spade']]);
  told.length = 0;
  await calls.generateTo(workspace, SHORT);
  for (const each of told) expect(each).toEqual([null, []]);
});

// contract.md G69
it('a section of questions in an approved outline is not written beside the questions at the end', async () => {
  const { article } = await calls.generateTo(workspace, { reviewOutline: true, faq: true });
  const { outline, etag } = await calls.outline(workspace, article.id);
  const [first, ...others] = outline.sections;
  const asked = { ...first, id: 'asked', heading: 'Häufig gestellte Fragen', level: 2 };
  const edited = { ...outline, sections: [first, asked, ...others.map((each) => ({ ...each, level: 2 }))] };
  const saved = await calls.saveOutline(workspace, article.id, edited, etag);
  const { body } = await calls.approve(workspace, article.id, saved.headers.get('etag') ?? '');
  expect(await calls.untilFinal(workspace, body.job.id)).toMatchObject({ status: 'COMPLETED' });
  const { sections } = await report(body.job.id);
  const kinds = sections.map(({ kind }: { kind: string }) => kind);
  expect(kinds).toEqual([...outline.sections.map(() => 'section'), 'faq']);
  const { documentJson } = await calls.readArticle(workspace, article.id);
  const headings = documentJson.blocks.flatMap((block) =>
    block.type === 'heading' && block.level === 2 ? [block.text] : [],
  );
  expect(headings).not.toContain('Häufig gestellte Fragen');
  expect(headings.at(-1)).toBe('Frequently asked questions');
});
