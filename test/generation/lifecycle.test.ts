import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import type { ArticleId, JobId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { generationWorkflowId } from '../../src/temporal/ids.ts';
import { documentOf, editing } from '../articles/support.ts';
import { config, SHORT, useGenerations } from '../support/generating.ts';
import { hang } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { untilWaiting } from '../translations/support/locks.ts';
import { controlSteps, STEPS, type StepControl } from './support/steps.ts';

const { service, workspace, calls, writers, operator, reconcile } = useGenerations({
  credits: 20,
  hasSchedules: true,
});

let steps: StepControl;
beforeAll(async () => {
  steps = await controlSteps(service.db);
});
beforeEach(() => steps.refuse(null));

const workflowId = ({ id }: { id: string }) => generationWorkflowId(id as JobId);
const edit = () => editing(service, workspace);
const UNCHARGED = { balance: 20, reserved: 0, available: 20 };
const report = async (jobId: string) =>
  (await service.call(workspace.key, 'GET', `/api/jobs/${jobId}/report`)).body.report;

describe('a generation', () => {
  // contract.md G13, G14, G18 and G21
  it('enters every step but research, writes the article, is charged for the text alone, tells each event once with its fields, and shows Temporal nothing of what customers write', async () => {
    const { article: queued, job } = await calls.generate(workspace, {
      faq: true,
      primaryKeyword: 'sowing',
      secondaryKeywords: ['mulch'],
      prompt: 'Whisper it.',
    });
    const ended = await calls.untilFinal(workspace, job.id);
    expect(ended).toMatchObject({
      status: 'COMPLETED',
      kind: 'generation',
      currentStep: 'finalize',
      progress: 100,
      estimatedCredits: 2,
      reservedCredits: 2,
      consumedCredits: 1,
      errorCode: null,
      errorMessage: null,
    });
    const article = await calls.readArticle(workspace, queued.id);
    const outline = article.outline as Record<string, string>;
    expect(article).toMatchObject({
      status: 'NEEDS_REVIEW',
      title: outline.title,
      slug: outline.slug,
      metaTitle: outline.metaTitle,
      metaDescription: outline.metaDescription,
      contentHtml: expect.stringContaining('<h2>'),
      contentMarkdown: expect.stringContaining('## '),
      targetKeywords: [],
      secondaryKeywords: [],
    });
    expect(article.wordCount).toBeGreaterThan(540);
    expect(article.wordCount).toBeLessThan(660);
    const { id: articleId, projectId } = article;
    const jobId = job.id;
    expect(await calls.events(articleId)).toEqual([
      { event: 'article.created', data: { articleId, projectId, title: 'A garden in spring' } },
      { event: 'article.generation.started', data: { articleId, jobId, estimatedCredits: 2 } },
      { event: 'article.generation.completed', data: { articleId, jobId, consumedCredits: 1 } },
      { event: 'credits.consumed', data: { articleId, jobId, credits: 1 } },
    ]);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 19, reserved: 0, available: 19 });
    // Nothing drew: this service has no image model.
    const { report } = (await service.call(workspace.key, 'GET', `/api/jobs/${jobId}/report`)).body;
    expect(report.images.items).toMatchObject([{ reason: 'no_model', answered: 0, unanswered: 0 }]);
    const { assets } = (await service.call(workspace.key, 'GET', `/api/articles/${articleId}/assets`)).body;
    expect([assets, await edit().storageUsed()]).toEqual([[], 0]);
    await expectEveryStep(jobId);
    await expectHiddenFromTemporal(article, job);
  });

  /** Each with its status, and its progress only rises. */
  async function expectEveryStep(jobId: string): Promise<void> {
    const moves = await steps.movesOf(jobId);
    expect(moves.map(({ status, step }) => [status, step])).toEqual([
      ['VALIDATING', 'validate'],
      ['OUTLINING', 'outline'],
      ['WRITING', 'write'],
      ['GENERATING_IMAGE_PROMPTS', 'image-prompts'],
      ['GENERATING_IMAGES', 'images'],
      ['PROCESSING_MEDIA', 'media-processing'],
      ['FINALIZING', 'finalize'],
      ['COMPLETED', 'finalize'],
    ]);
    const progress = moves.map((move) => move.progress);
    expect(progress).toEqual([...new Set(progress)].sort((one, other) => one - other));
    expect(writers.asked.slice(-3)).toEqual(['faq', 'edits', 'lead']);
  }

  async function expectHiddenFromTemporal(article: Article, job: { id: string }): Promise<void> {
    const kept = await operator.kept(workflowId(job));
    expect(kept).toContain(article.id);
    const { sections } = article.outline as { sections: { heading: string }[] };
    for (const text of [config.topic, 'Whisper', article.title, sections[0]?.heading ?? '']) {
      expect(kept).not.toContain(text);
    }
  }

  // contract.md G15
  it('replaces title and slug that were made from the topic, and nothing that a person has set', async () => {
    const project = await service.project(workspace);
    const made = { title: 'My own title', metaTitle: 'My meta title', documentJson: documentOf() };
    const draft = await edit().create(project, made);
    const { body } = await calls.draft(workspace, draft.id, {
      generationConfig: { topic: 'Gardens', wordCount: 200, imageCount: 0, writingQuality: 'standard' },
    });
    await calls.untilFinal(workspace, body.job.id);
    const article = await calls.readArticle(workspace, draft.id);
    expect(article).toMatchObject({
      status: 'NEEDS_REVIEW',
      title: 'My own title',
      slug: 'my-own-title',
      metaTitle: 'My meta title',
      metaDescription: (article.outline as Record<string, string>).metaDescription,
    });
    const { article: titled } = await calls.generateTo(workspace, SHORT, { title: 'Given with the request' });
    expect(titled).toMatchObject({ title: 'Given with the request', slug: 'given-with-the-request' });
  });

  // contract.md G16 and G25
  it('is told of its failure in words for people, which no history has, and its report shows nothing that was written', async () => {
    writers.behave = async (what) => {
      if (what === 'section' && writers.asked.length > 3)
        throw new ProviderError('refused', 'The model declines to write “Compost”.');
    };
    const { article, job } = await calls.generateTo(workspace);
    expect(job).toMatchObject({
      status: 'FAILED',
      errorCode: 'GENERATION_FAILED',
      errorMessage: 'The model declines to write “Compost”.',
      consumedCredits: 0,
      currentStep: 'write',
    });
    expect(article).toMatchObject({
      status: 'DRAFT',
      outline: null,
      documentJson: documentOf(),
      wordCount: 0,
    });
    expect((await calls.events(article.id)).at(-1)).toEqual({
      event: 'article.generation.failed',
      data: { articleId: article.id, jobId: job.id, error: 'The model declines to write “Compost”.' },
    });
    await operator.closed(workflowId(job));
    expect(await operator.kept(workflowId(job))).not.toContain('Compost');
    const told = await report(job.id);
    expect(told).toMatchObject({ status: 'FAILED', credits: { consumed: 0 } });
    expect(
      told.sections.map(({ heading, written }: Record<string, unknown>) => [heading, written]).slice(0, 2),
    ).toEqual([
      [null, true],
      [null, false],
    ]);
  });
});

describe('a run that stops for its outline', () => {
  // contract.md G11
  it('leaves a draft with its outline, charges nothing, and never says that the article is ready', async () => {
    const { article, job } = await calls.generateTo(workspace, { reviewOutline: true });
    expect(job).toMatchObject({
      status: 'COMPLETED',
      currentStep: 'outline',
      progress: 100,
      estimatedCredits: 0,
      consumedCredits: 0,
    });
    expect(article).toMatchObject({
      status: 'DRAFT',
      title: 'A garden in spring',
      documentJson: documentOf(),
    });
    expect(article.outline).toEqual((await calls.outline(workspace, article.id)).outline);
    expect(await calls.eventTypes(article.id)).toEqual(['article.created', 'article.generation.started']);
    expect((await steps.movesOf(job.id)).map(({ status }) => status)).toEqual([
      'VALIDATING',
      'OUTLINING',
      'COMPLETED',
    ]);
    expect(writers.asked).toEqual(['outline']);
    expect(await calls.readWallet(workspace)).toEqual(UNCHARGED);
  });

  // contract.md G10
  it('goes on from the outline that was approved: no other is made, and what was edited is written', async () => {
    const { article } = await calls.generateTo(workspace, { reviewOutline: true });
    const { outline, etag } = await calls.outline(workspace, article.id);
    const [first, ...others] = outline.sections;
    const edited = { ...outline, sections: [{ ...first, heading: 'Said by a person' }, ...others] };
    const saved = await calls.saveOutline(workspace, article.id, edited, etag);
    const approval = await calls.approve(workspace, article.id, saved.headers.get('etag') ?? '');
    const job = await calls.untilFinal(workspace, approval.body.job.id);
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1, reservedCredits: 2 });
    expect((await steps.movesOf(job.id)).map(({ status }) => status)).toEqual([
      ...STEPS.filter((status) => status !== 'OUTLINING'),
      'COMPLETED',
    ]);
    expect(writers.asked.filter((what) => what === 'outline')).toHaveLength(1);
    const told = await report(job.id);
    expect(told.outline).toEqual({ approved: true, repairs: [] });
    expect(told.sections[0]).toMatchObject({ heading: 'Said by a person', written: true });
    const written = await calls.readArticle(workspace, article.id);
    expect(written).toMatchObject({ status: 'NEEDS_REVIEW', title: outline.title, outline: edited });
    const heading = written.documentJson.blocks.find(({ type }) => type === 'heading');
    expect(heading).toMatchObject({ text: 'Said by a person' });
    expect(await calls.eventTypes(article.id)).toEqual([
      'article.created',
      'article.generation.started',
      'article.generation.started',
      'article.generation.completed',
      'credits.consumed',
    ]);
  });

  // contract.md G15
  it('keeps title and slug that a person has changed between the two runs', async () => {
    const { article } = await calls.generateTo(workspace, { ...SHORT, reviewOutline: true });
    await edit().patch(article.id, { slug: 'chosen-by-hand' });
    const { etag, outline } = await calls.outline(workspace, article.id);
    const { body } = await calls.approve(workspace, article.id, etag);
    await calls.untilFinal(workspace, body.job.id);
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({
      title: outline.title,
      slug: 'chosen-by-hand',
    });
  });

  // contract.md G12
  it('keeps its outline when the second run fails or is cancelled, and can be approved again', async () => {
    const { article } = await calls.generateTo(workspace, { ...SHORT, reviewOutline: true });
    const { etag, outline } = await calls.outline(workspace, article.id);
    const approve = async () => (await calls.approve(workspace, article.id, etag)).body.job;
    writers.behave = async () => {
      throw new ProviderError('fatal', 'No.');
    };
    expect(await calls.untilFinal(workspace, (await approve()).id)).toMatchObject({ status: 'FAILED' });
    writers.behave = (_, signal) => hang(signal);
    const held = await approve();
    await eventually(
      () => calls.readJob(workspace, held.id),
      ({ status }) => status === 'WRITING',
    );
    expect((await calls.cancel(workspace, held.id)).status).toBe(202);
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'DRAFT', outline });
    writers.behave = async () => undefined;
    expect(await calls.untilFinal(workspace, (await approve()).id)).toMatchObject({ status: 'COMPLETED' });
    expect(await calls.readWallet(workspace)).toEqual({ balance: 19, reserved: 0, available: 19 });
  });
});

/** How far a run is that cannot enter a step. */
const PROGRESS_BEFORE = {
  VALIDATING: 0,
  OUTLINING: 2,
  WRITING: 10,
  GENERATING_IMAGE_PROMPTS: 75,
  GENERATING_IMAGES: 75,
  PROCESSING_MEDIA: 78,
  FINALIZING: 94,
} as const satisfies Record<(typeof STEPS)[number], number>;

describe.each(STEPS)('in %s', (step) => {
  // contract.md G16
  it('it fails: the article is a draft, nothing of it is written, nothing is charged, its progress stays, and the failure is told', async () => {
    await steps.refuse(step);
    const { article, job } = await calls.generateTo(workspace, { ...SHORT, reviewOutline: false });
    expect(job).toMatchObject({
      status: 'FAILED',
      errorCode: 'GENERATION_FAILED',
      errorMessage: 'The generation stopped on an internal error. Nothing was charged; start it again.',
      consumedCredits: 0,
      progress: PROGRESS_BEFORE[step],
    });
    expect(article).toMatchObject({
      status: 'DRAFT',
      title: 'A garden in spring',
      slug: 'a-garden-in-spring',
      documentJson: documentOf(),
      outline: null,
      metaTitle: null,
      contentHtml: null,
    });
    expect((await calls.events(article.id)).slice(1)).toEqual([
      {
        event: 'article.generation.started',
        data: { articleId: article.id, jobId: job.id, estimatedCredits: 2 },
      },
      {
        event: 'article.generation.failed',
        data: { articleId: article.id, jobId: job.id, error: job.errorMessage },
      },
    ]);
    expect(await calls.readWallet(workspace)).toEqual(UNCHARGED);
  });

  // contract.md G17
  it('it is cancelled: the article is a draft, nothing is charged or told, and its progress stays', async () => {
    let cancelled: ReturnType<typeof calls.cancel> | undefined;
    const { article, job } = await (async () => {
      let generated: Awaited<ReturnType<typeof calls.generate>> | undefined;
      await steps.hold(step, async () => {
        generated = await calls.generate(workspace, SHORT);
        const { job } = generated;
        // The run waits at the gate, and the cancellation behind it.
        await untilWaiting(service.db, 1);
        cancelled = calls.cancel(workspace, job.id);
        await untilWaiting(service.db, 2);
      });
      if (generated === undefined) throw new Error('nothing was generated');
      return generated;
    })();
    expect((await cancelled)?.status).toBe(202);
    const ended = await calls.readJob(workspace, job.id);
    expect(ended).toMatchObject({ status: 'CANCELLED', consumedCredits: 0, errorCode: null });
    expect((await steps.movesOf(job.id)).at(-2)).toMatchObject({ status: step });
    await operator.closed(workflowId(job));
    expect(await calls.readJob(workspace, job.id)).toEqual(ended);
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({
      status: 'DRAFT',
      documentJson: documentOf(),
      outline: null,
    });
    expect(await calls.eventTypes(article.id)).toEqual(['article.created', 'article.generation.started']);
    expect(await calls.readWallet(workspace)).toEqual(UNCHARGED);
  });
});

// contract.md G25
it('the report of a generation tells of each section, what had to be corrected, and the receipt', async () => {
  let answers = 0;
  writers.responses.section = async (question) => {
    answers += 1;
    return answers === 1 ? { object: null, text: '', truncated: false } : writers.pseudo.ask(question);
  };
  const { article, job } = await calls.generateTo(workspace);
  const { sections } = article.outline as { sections: { heading: string }[] };
  const told = await report(job.id);
  expect(told).toMatchObject({
    jobId: job.id,
    articleId: article.id,
    status: 'COMPLETED',
    writer: 'pseudo',
    credits: { estimated: 2, reserved: 2, consumed: 1 },
    outline: { approved: false, repairs: [] },
  });
  expect(told.sections.map(({ heading, written }: Record<string, unknown>) => [heading, written])).toEqual(
    sections.map(({ heading }) => [heading, true]),
  );
  expect(told.sections[0].repairs).toEqual(['The response has no text of the article.']);
  expect(told.sections[1].repairs).toEqual([]);
  expect(told.words).toBe(
    told.sections.reduce((sum: number, { words }: { words: number }) => sum + words, 0),
  );
});

describe('what a generation leaves', () => {
  // contract.md G22
  it('is ended by reconcile when an operator stops the run: failed, told, and uncharged', async () => {
    writers.behave = (_, signal) => hang(signal);
    const { article, job } = await calls.generate(workspace);
    await eventually(
      () => calls.readJob(workspace, job.id),
      ({ status }) => status === 'OUTLINING',
    );
    await operator.client.workflow.getHandle(workflowId(job)).terminate('stopped by hand');
    await reconcile();
    const error = 'The generation was stopped by an operator. Nothing was charged.';
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({
      status: 'FAILED',
      errorMessage: error,
    });
    expect((await calls.events(article.id)).at(-1)).toEqual({
      event: 'article.generation.failed',
      data: { articleId: article.id, jobId: job.id, error },
    });
    expect(await calls.readWallet(workspace)).toEqual(UNCHARGED);
  });

  // contract.md G20
  it('counts as unpaid what was asked of a model for a run that the customer cancelled', async () => {
    writers.behave = async (what, signal) => {
      if (what === 'section') await hang(signal);
    };
    const { job } = await calls.generate(workspace);
    await eventually(
      async () => writers.asked,
      (asked) => asked.includes('section'),
    );
    await calls.cancel(workspace, job.id);
    const parts = await service.db
      .selectFrom('generation_parts')
      .select(['words', 'asked'])
      .where('job_id', '=', job.id as JobId)
      .orderBy('part')
      .execute();
    const asked = parts.filter((part) => part.asked);
    expect(asked).toHaveLength(3);
    const unpaid = await service.db
      .selectFrom('unpaid_work')
      .select('words')
      .where('workspace_id', '=', workspace.id)
      .execute();
    expect(unpaid).toEqual([{ words: asked.reduce((sum, { words }) => sum + words, 0) }]);
  });

  // contract.md G23
  it('is removed when the job has ended longer ago than the retention; article and job stay; and goes with its article', async () => {
    const [old, young] = [await calls.generateTo(workspace, SHORT), await calls.generateTo(workspace, SHORT)];
    await sql`UPDATE jobs SET ended_at = ended_at - interval '31 days' WHERE id = ${old.job.id}`.execute(
      service.db,
    );
    const names = service.config.TEMPORAL_TASK_QUEUE_PREFIX;
    await operator.client.schedule.getHandle(`${names}prune`).trigger();
    const kept = (id: string) =>
      service.db
        .selectFrom('generations')
        .innerJoin('generation_parts', 'generation_parts.job_id', 'generations.job_id')
        .select(['config', 'document', 'content'])
        .where('generations.job_id', '=', id as JobId)
        .execute();
    const rows = await eventually(
      () => kept(old.job.id),
      ([first]) => first?.config === null,
    );
    for (const row of rows) expect(row).toEqual({ config: null, document: null, content: {} });
    for (const row of await kept(young.job.id)) expect(Object.values(row)).not.toContain(null);
    expect(await calls.readJob(workspace, old.job.id)).toEqual(old.job);
    expect(await calls.readArticle(workspace, old.article.id)).toEqual(old.article);
    const tables = ['generations', 'generation_parts', 'generation_images'] as const;
    const rowsOf = (table: (typeof tables)[number]) =>
      service.db
        .selectFrom(table)
        .select('job_id')
        .where('job_id', '=', young.job.id as JobId)
        .execute();
    for (const table of tables) expect((await rowsOf(table)).length).toBeGreaterThan(0);
    expect((await edit().remove(young.article.id)).status).toBe(200);
    for (const table of tables) expect(await rowsOf(table)).toEqual([]);
  });
});

// contract.md G24
it('links lead to published articles of the project in the language of the text, and nowhere else', async () => {
  const project = await service.project(workspace);
  const published = await edit().published(project, { title: 'Compost' });
  await edit().create(project, { title: 'A draft' });
  const offered: string[] = [];
  writers.responses.section = (question) => {
    offered.push(...question.articles);
    return writers.pseudo.ask(question);
  };
  const { body } = await calls.request(workspace, project);
  await calls.untilFinal(workspace, body.job.id);
  expect(offered).toEqual(['Compost']);
  const { documentJson } = await calls.readArticle(workspace, body.article.id as ArticleId);
  const links = documentJson.blocks.flatMap((block) => ('links' in block ? (block.links ?? []) : []));
  expect(links.map(({ articleId }) => articleId)).toEqual([published.id]);
});
