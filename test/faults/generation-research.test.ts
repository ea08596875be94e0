import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { ArticleId, JobId } from '../../src/ids.ts';
import {
  controlResearch,
  PLACES,
  type ResearchPlace,
  type Variant,
} from '../generation/support/research-places.ts';
import { controlSteps } from '../generation/support/steps.ts';
import { partsAskedAgain, startWritingModel } from '../generation/support/writing-model.ts';
import { type ChatRequest, jsonIn, userTurns } from '../support/chat-completions.ts';
import { listenToAll } from '../support/events.ts';
import { config, generating } from '../support/generating.ts';
import { openJobs, untilEnded } from '../support/jobs.ts';
import { honestWriting, isAboutSection } from '../support/model/honest-writer.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

/** `npm run soak:research` runs this with all places. */
const KILLS = Number(process.env.RESEARCH_KILLS ?? 8);
/** Articles whose worker is killed at once, each at a place of its own. */
const AT_ONCE = 8;
const CREDITS = 20;
/** Text, research and facts. */
const WHOLE = 5;

const FEATURES = { WEB_RESEARCH: 'true', FACT_CHECKING: 'true', SEARCH_PROVIDER: 'pseudo' };
const service = useTestService({ UNBILLED_LIMIT_WORDS: '0', ...FEATURES });

interface Held {
  readonly variant: Variant;
  readonly place: ResearchPlace;
}

/** So many of all places, evenly. */
function chosenPlaces(): Held[] {
  const all = Object.entries(PLACES).flatMap(([variant, places]) =>
    places.map((place): Held => ({ variant: variant as Variant, place })),
  );
  const most = Math.min(KILLS, all.length);
  return Array.from({ length: most }, (_, at) => all[Math.floor((at * all.length) / most)]).flatMap(
    (held) => held ?? [],
  );
}

const OTHER = 'A double shot of espresso takes 18 grams of ground coffee.';

/** An honest model that finds the first claim contradicted, and corrects the block that it stands in. */
function contradicting(question: ChatRequest): unknown {
  const answer = honestWriting(question);
  if (typeof answer === 'string') {
    // What no page about watering says: the claims lead to others.
    return isAboutSection(userTurns(question.messages).flatMap(jsonIn)) ? `${OTHER}\n\n${answer}` : answer;
  }
  const response = answer as Record<string, unknown>;
  if (Array.isArray(response?.verdicts)) {
    const [first, ...others] = response.verdicts;
    return { verdicts: [{ ...first, verdict: 'contradicted' }, ...others] };
  }
  const lines = userTurns(question.messages).flatMap(jsonIn) as {
    blocks?: { number?: number; text: string }[];
    task?: { contradictions?: { block: number; sentence: string }[] };
  }[];
  const told = lines.flatMap((line) => line?.task?.contradictions ?? []);
  const blocks = lines.flatMap((line) => line?.blocks ?? []);
  if (told.length === 0) return response;
  return {
    edits: told.map(({ block, sentence }) => ({
      block,
      action: 'replace',
      text: (blocks.find(({ number }) => number === block)?.text ?? '').replace(
        sentence,
        'Pages disagree on that.',
      ),
      reason: 'The passage says otherwise.',
    })),
  };
}

// contract.md G19, N21, N22, N28 and N32
it('research and facts whose worker is killed at any of their steps are charged, stored and told of once, and request little again', {
  timeout: 300_000 + KILLS * 45_000,
}, async () => {
  const calls = generating(service);
  const { db } = service;
  const model = await startWritingModel({ write: contradicting });
  const steps = await controlSteps(db);
  await controlResearch(db);
  const start = (): Promise<ServiceProcess> =>
    startProcess('worker.ts', {
      ...service.env,
      ...FEATURES,
      ...model.env,
      DATABASE_POOL_SIZE: '40',
      DATABASE_STATEMENT_TIMEOUT_SECONDS: '600',
    });
  const stop = async (worker: ServiceProcess, signal: NodeJS.Signals): Promise<void> => {
    worker.kill(signal);
    await worker.ended;
  };
  const places = chosenPlaces();
  let killed = 0;
  let whole = 0;
  for (let from = 0; from < places.length; from += AT_ONCE) {
    const begin = async (held: Held, index: number) => {
      // Each in a workspace of its own: those of one wait for each other.
      const workspace = await service.workspace(CREDITS);
      await listenToAll(db, workspace.id);
      const { article, job } = await calls.generate(workspace, {
        ...config,
        topic: `Watering tomatoes, garden number ${from + index}`,
        imageCount: 0,
        researchEnabled: true,
        reviewOutline: held.variant !== 'whole',
      });
      return { ...held, workspace, articleId: article.id, jobId: job.id };
    };
    type Begun = Awaited<ReturnType<typeof begin>>;
    const untilAllEnded = (of: readonly Begun[]) =>
      untilEnded(
        db,
        of.map(({ jobId }) => jobId),
        240_000,
      );
    const approve = async (each: Begun): Promise<void> => {
      const { etag } = await calls.outline(each.workspace, each.articleId);
      const { body } = await calls.approve(each.workspace, each.articleId, etag);
      each.jobId = body.job.id;
    };
    const chosen = places.slice(from, from + AT_ONCE);
    const round: Begun[] = [];
    for (const [index, held] of chosen.entries()) {
      if (held.variant === 'approved') round.push(await begin(held, index));
    }
    if (round.length > 0) {
      // It is not killed, and needs no process of its own.
      const first = await service.startWorker({}, model.env);
      await untilAllEnded(round);
      await first.stop();
      for (const each of round) await approve(each);
    }
    for (const [index, held] of chosen.entries()) {
      if (held.variant !== 'approved') round.push(await begin(held, index));
    }
    await steps.holdEach(new Map(round.map(({ jobId, place }) => [jobId, place])), async () => {
      const worker = await start();
      await eventually(
        () => steps.held(),
        (count) => count === round.length,
        240_000,
      ).catch(async (error: unknown) => {
        const open = await openJobs(
          db,
          round.map(({ jobId }) => jobId),
        );
        const statusOf = (id: string) => open.find((job) => job.id === id)?.status ?? 'ended';
        const where = round.map(({ variant, place, jobId }) => `${variant} ${place}: ${statusOf(jobId)}`);
        throw new Error(where.join('; '), { cause: error });
      });
      await stop(worker, 'SIGKILL');
      // Of every second round nothing was committed; of the others what was under way is, and nobody knows.
      if ((from / AT_ONCE) % 2 === 0) await steps.dropHeld();
    });
    killed += round.length;
    const worker = await start();
    await untilAllEnded(round);
    const outlined = round.filter(({ variant }) => variant === 'outline');
    for (const each of outlined) await approve(each);
    await untilAllEnded(outlined);
    await stop(worker, 'SIGTERM');
    for (const each of round) await checkEnd(each);

    async function checkEnd(each: Begun): Promise<void> {
      const { workspace, articleId, variant, place } = each;
      const what = `${variant}: ${place}`;
      const jobs = await db
        .selectFrom('jobs')
        .select(['id', 'purpose', 'status', 'consumed_credits'])
        .where('article_id', '=', articleId as ArticleId)
        .execute();
      expect(jobs, what).toHaveLength(variant === 'whole' ? 1 : 2);
      for (const job of jobs) {
        // Charged is what the report says was delivered: a busy machine refuses pages that take too long to parse.
        const { body } = await service.call(workspace.key, 'GET', `/api/jobs/${job.id}/report`);
        const { research, facts } = body.report;
        const delivered = (research?.delivered === true ? 1 : 0) + ((facts?.compared ?? 0) > 0 ? 3 : 0);
        const text = job.purpose === 'generate' ? 1 : 0;
        expect([job.status, job.consumed_credits], what).toEqual(['COMPLETED', text + delivered]);
      }
      const charges = jobs.map(({ consumed_credits }) => consumed_credits).filter((credits) => credits > 0);
      const charged = charges.reduce((sum, credits) => sum + credits, 0);
      const left = CREDITS - charged;
      expect(await calls.readWallet(workspace), what).toEqual({
        balance: left,
        reserved: 0,
        available: left,
      });
      const types = (await calls.eventTypes(articleId)).toSorted();
      expect(
        types.filter((type) => type === 'credits.consumed'),
        what,
      ).toHaveLength(charges.length);
      const isWhole = charged === WHOLE;
      if (isWhole) whole += 1;
      for (const once of ['article.created', 'article.generation.completed']) {
        expect(
          types.filter((type) => type === once),
          what,
        ).toHaveLength(1);
      }
      await checkRows(articleId as ArticleId, each.jobId as JobId, { what, isWhole });
    }
  }
  expect(killed).toBe(places.length);
  expect(whole).toBeGreaterThan(killed / 2);
  expect(partsAskedAgain(model.asked)).toBeLessThanOrEqual(killed);
  await model.close();

  /** Sources, notes and claims are there once, each quote and passage in its source; nothing was requested too often. */
  async function checkRows(
    articleId: ArticleId,
    jobId: JobId,
    { what, isWhole }: { what: string; isWhole: boolean },
  ): Promise<void> {
    const sources = await db
      .selectFrom('article_sources')
      .select(['id', 'url', 'position', 'text'])
      .where('article_id', '=', articleId)
      .orderBy('position')
      .execute();
    if (isWhole) expect(sources.length, what).toBeGreaterThanOrEqual(3);
    expect(new Set(sources.map(({ url }) => url)).size, what).toBe(sources.length);
    const textOf = (id: string | null): string => sources.find((source) => source.id === id)?.text ?? '';
    const notes = await db
      .selectFrom('article_notes')
      .select(['source_id', 'position', 'quote'])
      .where('article_id', '=', articleId)
      .orderBy('position')
      .execute();
    expect(
      notes.map(({ position }) => position),
      what,
    ).toEqual(notes.map((_, at) => at + 1));
    if (isWhole) expect(notes.length, what).toBeGreaterThan(0);
    for (const { source_id, quote } of notes) expect(textOf(source_id), what).toContain(quote);
    const claims = await db
      .selectFrom('article_claims')
      .select(['job_id', 'position', 'verdict', 'source_id', 'passage'])
      .where('article_id', '=', articleId)
      .orderBy('position')
      .execute();
    expect(
      claims.map(({ position }) => position),
      what,
    ).toEqual(claims.map((_, at) => at + 1));
    const verdicts = claims.map(({ verdict }) => verdict);
    if (isWhole) expect(verdicts, what).toContain('contradicted');
    for (const { job_id, source_id, passage } of claims) {
      expect(job_id, what).toBe(jobId);
      if (passage !== null) expect(textOf(source_id), what).toContain(passage);
    }
    const { rows } = await sql<{ tries: number; open: number; texts: number; unended: number }>`
      WITH own AS (SELECT id FROM jobs WHERE article_id = ${articleId})
      SELECT (SELECT max(tries) FROM (SELECT job_id, tries FROM generation_searches UNION ALL SELECT job_id, tries FROM generation_pages)
          AS requested JOIN own ON own.id = job_id)::integer AS tries,
        ((SELECT count(*) FROM generation_searches JOIN own ON own.id = job_id WHERE found IS NULL)
          + (SELECT count(*) FROM generation_pages JOIN own ON own.id = job_id WHERE hash IS NULL AND refusal IS NULL))::integer AS open,
        (SELECT count(*) FROM generation_pages JOIN own ON own.id = job_id WHERE text IS NOT NULL)::integer AS texts,
        (SELECT count(*) FROM generation_parts JOIN own ON own.id = job_id WHERE content IS NULL)::integer AS unended`.execute(
      db,
    );
    const [row] = rows;
    expect(row?.tries, what).toBeLessThanOrEqual(3);
    expect({ ...row, tries: 0 }, what).toEqual({ tries: 0, open: 0, texts: 0, unended: 0 });
  }
});
