import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { JobId } from '../../src/ids.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { ProviderError, type TranslationRequest } from '../../src/providers/types.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { listenToAll } from '../support/events.ts';
import { createStandInWriter, generating } from '../support/generating.ts';
import { useJobs } from '../support/jobs.ts';
import type { Answer } from '../support/service.ts';
import { createStandIn, forBody, hang } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const provider = createStandIn();
const writers = createStandInWriter();
// Of failed work 1,500 words are allowed.
const { service, workspace, operator, reconcile } = useJobs(
  { provider, writers },
  { credits: 2_000, env: { UNBILLED_LIMIT_WORDS: '300' }, hasSchedules: true },
  async () => {
    provider.behave = async () => undefined;
    provider.answer = undefined;
    writers.behave = async () => undefined;
    writers.responses = {};
  },
);
const calls = generating(service);

/** Jobs that are admitted at once; `npm run soak:failures` has more. */
const JOBS = Number(process.env.FAILED_JOBS ?? 30);
const STUBBORN = 'Stubborn';
const DAY = 86_400;
/** A document of so many words, whose last text is the stubborn one. */
const withStubborn = (words: number, type: 'heading' | 'paragraph' = 'heading'): DocumentJson => {
  const { blocks } = longDocument(words);
  const text = type === 'heading' ? STUBBORN : `${STUBBORN} ${'word '.repeat(words / 20).trim()}`;
  const last =
    type === 'heading' ? { id: 'last', type, level: 2 as const, text } : { id: 'last', type, text };
  return { version: 1, blocks: [...blocks, last] };
};

/** Every text has a translation but the stubborn one. */
const withoutStubborn = ({ segments }: TranslationRequest) =>
  new Map(
    segments.flatMap(({ id, text }) =>
      text.includes(STUBBORN) ? [] : [[id, pseudoLocalize(text)] as const],
    ),
  );

const sourceOf = async (document: DocumentJson) =>
  createArticle(service.db, workspace, await service.project(workspace), { document });

const translating = async (document: DocumentJson) =>
  calls.requestTranslation(workspace, (await sourceOf(document)).id);

const unpaid = (): Promise<{ reason: string; words: number }[]> =>
  service.db
    .selectFrom('unpaid_work')
    .select(['reason', 'words'])
    .where('workspace_id', '=', workspace.id)
    .orderBy('created_at')
    .execute();
const sum = (rows: readonly { words: number }[]) => rows.reduce((all, { words }) => all + words, 0);

const failed = async (answer: Answer) => {
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  const job = await calls.untilFinal(workspace, answer.body.job.id);
  expect(job).toMatchObject({ status: 'FAILED', consumedCredits: 0 });
  return job;
};

describe('work that failed because of its texts', () => {
  const generation = async (settings: Record<string, unknown>) =>
    calls.request(workspace, await service.project(workspace), {
      generationConfig: {
        topic: 'A garden',
        wordCount: 600,
        writingQuality: 'standard',
        imageCount: 0,
        ...settings,
      },
    });
  const NOTHING = { object: { blocks: [] }, truncated: false };

  let outdated: Awaited<ReturnType<typeof calls.outdated>> | undefined;

  /** Each begins one more run that fails. */
  const CAUSES: Record<string, () => Promise<Answer>> = {
    'a translation whose last heading never has a usable text': () => {
      provider.answer = withoutStubborn;
      return translating(withStubborn(800));
    },
    'a translation of which too much is left': () => {
      provider.answer = withoutStubborn;
      return translating(withStubborn(800, 'paragraph'));
    },
    'a translation that the engine declines': () => {
      provider.behave = async () => {
        throw new ProviderError('refused', 'The engine declines.');
      };
      return translating(longDocument(800));
    },
    'a translation whose last request the engine does not accept': () => {
      provider.answer = (request) => {
        const made = withoutStubborn(request);
        if (made.size < request.segments.length)
          throw new ProviderError('fatal', 'It did not accept the request.');
        return made;
      };
      return translating(withStubborn(1_400));
    },
    'a refresh that nothing usable comes for': async () => {
      outdated ??= await calls.outdated(workspace, 800);
      provider.answer = () => new Map();
      return service.call(workspace.key, 'POST', `/api/articles/${outdated.version.id}/refresh`);
    },
    'a generation whose last section is never usable': () => {
      let sections = 0;
      writers.responses.section = async (question) => {
        sections += 1;
        return sections < 3 ? writers.pseudo.ask(question) : NOTHING;
      };
      return generation({});
    },
    'an outline that is never usable': () => {
      writers.responses.outline = async () => ({ object: {}, truncated: false });
      return generation({ reviewOutline: true });
    },
    'an outline that the model declines': () => {
      writers.behave = async () => {
        throw new ProviderError('refused', 'The model declines.');
      };
      return generation({ reviewOutline: true });
    },
  };

  // contract.md J12
  it.each(Object.entries(CAUSES))(
    '%s: is stopped by 429 above its limit, again and again',
    async (_, begin) => {
      let answer = await begin();
      for (let run = 0; run < 12 && answer.status === 202; run += 1) {
        await failed(answer);
        answer = await begin();
      }
      expect(answer.body).toMatchObject({ code: 'QUOTA_EXCEEDED', details: { reason: 'failed_work' } });
      const seconds = Number(answer.headers.get('retry-after'));
      expect([seconds > DAY - 120, seconds <= DAY]).toEqual([true, true]);
      const rows = await unpaid();
      expect(rows.every(({ reason }) => reason === 'failed')).toBe(true);
      // The last run began below the limit.
      expect([sum(rows) > 1_500, sum(rows) < 3_600]).toEqual([true, true]);
      expect((await calls.readWallet(workspace)).reserved).toBe(0);
      await sql`UPDATE unpaid_work SET created_at = created_at - interval '1 day'
      WHERE workspace_id = ${workspace.id}`.execute(service.db);
      expect((await begin()).status).toBe(202);
    },
  );
});

describe('work that failed because something was away', () => {
  const afterTwoRequests = (fail: () => Promise<void>) => {
    let requests = 0;
    provider.behave = forBody(async () => {
      requests += 1;
      if (requests > 1) await fail();
    });
  };
  const throwing = (kind: 'retryable' | 'misconfigured' | 'unavailable') => () =>
    Promise.reject(new ProviderError(kind, 'away', { retryAfterMs: 1 }));

  const CAUSES: Record<string, () => Promise<unknown>> = {
    'an engine that is out of reach, or refuses this service, at every attempt': async () => {
      let failures = 0;
      afterTwoRequests(() => {
        failures += 1;
        return throwing(failures % 2 === 0 ? 'retryable' : 'misconfigured')();
      });
      return failed(await translating(longDocument(1_000)));
    },
    'an engine that asks for a longer wait than a run has': async () => {
      afterTwoRequests(throwing('unavailable'));
      return failed(await translating(longDocument(1_000)));
    },
    'a database that does not take the result': async () => {
      await sql`CREATE FUNCTION refuse_result() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE check_violation USING MESSAGE = 'refused by the test'; END $$`.execute(service.db);
      await sql`CREATE TRIGGER refuse_result BEFORE UPDATE ON articles
        FOR EACH ROW WHEN (NEW.status = 'NEEDS_REVIEW') EXECUTE FUNCTION refuse_result()`.execute(service.db);
      onTestFinished(async () => {
        await sql`DROP FUNCTION refuse_result CASCADE`.execute(service.db);
      });
      return failed(await translating(longDocument(1_000)));
    },
    'a run that an operator ended': async () => {
      afterTwoRequests(
        () => new Promise((_resolve, reject) => setTimeout(() => reject(new Error('late')), 2_000)),
      );
      const answer = await translating(longDocument(1_000));
      const { id } = answer.body.job;
      await eventually(
        () => calls.readJob(workspace, id),
        ({ progress }) => progress > 0,
      );
      await operator.client.workflow.getHandle(translationWorkflowId(id as JobId)).terminate('by hand');
      await reconcile();
      return failed(answer);
    },
  };

  // contract.md J13
  it.each(Object.entries(CAUSES))('%s: is never counted', async (_, fail) => {
    await fail();
    expect(await unpaid()).toEqual([]);
    provider.behave = async () => undefined;
    expect((await translating(longDocument(50))).status).toBe(202);
  });
});

describe('a job that takes its turn', () => {
  const MESSAGE =
    /^Runs that failed because of their texts, or left an outline that is not written, in the last 24 hours made more than 1500 unpaid words\. Nothing was charged; send it again after (.+Z)\.$/;

  // contract.md J10 and J14
  it('fails uncharged above a limit, with the time from which it can be sent again, however many were admitted at once', async () => {
    provider.answer = withoutStubborn;
    const admitted = Promise.withResolvers<void>();
    onTestFinished(() => admitted.resolve());
    provider.behave = () => admitted.promise;
    const before = await calls.readWallet(workspace);
    const projectId = await service.project(workspace);
    const document = withStubborn(250);
    const answers: Answer[] = [];
    while (answers.length < JOBS) {
      const some = Array.from({ length: 10 }, async () => {
        const { id } = await createArticle(service.db, workspace, projectId, { document });
        return calls.requestTranslation(workspace, id);
      });
      answers.push(...(await Promise.all(some)));
    }
    admitted.resolve();
    const jobs = [];
    for (const answer of answers) jobs.push(await failed(answer));
    const refused = jobs.filter(({ errorMessage }) => MESSAGE.test(errorMessage ?? ''));
    // Those that were under way when the limit was passed made the last words.
    expect(refused.length).toBeGreaterThanOrEqual(JOBS - 7 - 8);
    const time = Date.parse(MESSAGE.exec(refused[0]?.errorMessage ?? '')?.[1] ?? '');
    const inSeconds = (time - Date.now()) / 1_000;
    expect([inSeconds > DAY - 300, inSeconds <= DAY]).toEqual([true, true]);
    expect(refused[0]).toMatchObject({ errorCode: 'TRANSLATION_FAILED', currentStep: null });
    expect(await calls.readWallet(workspace)).toEqual(before);
    const draft = await calls.readArticle(workspace, refused[0]?.articleId ?? '');
    expect([draft.status, draft.documentJson.blocks]).toEqual(['DRAFT', []]);
    expect((await unpaid()).length).toBe(JOBS - refused.length);
  }, 600_000);

  // contract.md J14
  it('is held to the limit of cancelled work as well, with the failure of a generation sent on', async () => {
    await listenToAll(service.db, workspace.id);
    provider.behave = forBody(hang);
    const open: string[] = [];
    for (let each = 0; each < 8; each += 1) {
      const { job } = await calls.translate(workspace, 1_000);
      open.push(job.id);
    }
    await eventually(
      () =>
        service.db
          .selectFrom('translations')
          .select('asked_batches')
          .where('workspace_id', '=', workspace.id)
          .execute(),
      (rows) => rows.every(({ asked_batches }) => asked_batches.length >= 3),
    );
    const { article, job } = await calls.generate(workspace);
    await calls.cancel(workspace, open[0] ?? '');
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({
      status: 'FAILED',
      errorCode: 'GENERATION_FAILED',
      errorMessage: expect.stringMatching(/^Runs that were cancelled .* more than 300 unpaid words\./),
    });
    expect((await calls.events(article.id)).at(-1)).toMatchObject({ event: 'article.generation.failed' });
    await Promise.all(open.slice(1).map((id) => calls.cancel(workspace, id)));
  });
});

// contract.md J15
it('words that a later run pays for are taken out, those of every run before it that it reused', async () => {
  const { id } = await sourceOf(withStubborn(900));
  provider.answer = withoutStubborn;
  await failed(await calls.requestTranslation(workspace, id));
  expect(sum(await unpaid())).toBeGreaterThan(900);
  await failed(await calls.requestTranslation(workspace, id));
  const before = await unpaid();
  // The second run asked for the heading alone.
  expect([before.length, before[1]?.words]).toEqual([2, 1]);
  provider.answer = undefined;
  const { job } = await calls.translateTo(workspace, id);
  expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
  expect((await unpaid()).map(({ words }) => words)).toEqual([1, 1]);
});
