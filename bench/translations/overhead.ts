/**
 * What a translation costs beside the engine's own time:
 *  1. A 10,000-word article with a language model of fixed delay (a local server that speaks the real protocol),
 *     against a bare loop that sends it the same batches, as many at once, and stores nothing. Both request a style
 *     sheet first: that is the engine's own time. The time of the sheet is shown beside that of the batches.
 *  2. Words per second with the engine that takes no time, pseudo, for 1,000, 10,000 and 100,000 words.
 * A job counts from the request that creates it to its end, seen within 50 ms.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_DELAY_MS (1000).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startEphemeralEngines } from '../../soak/support/engines.ts';
import { print, setting } from '../../soak/support/report.ts';
import { createScriptService } from '../../soak/support/service.ts';
import { createTranslations, untilEnded } from '../../soak/support/translations.ts';
import { type PlannedTexts, planBatches, planTexts } from '../../src/document/translation/planned.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import { createOpenAiCompatibleProvider } from '../../src/providers/openai-compatible.ts';
import { longDocument } from '../../test/support/articles.ts';
import { pseudoCompletion } from '../../test/support/chat-completions.ts';
import { startEngineServer } from '../../test/support/engine-server.ts';
import { alternate, type Figure, report } from '../lib/suite.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const DELAY_MS = setting('BENCH_DELAY_MS', 1_000);
const WORDS = 10_000;
const SIZES = [1_000, 10_000, 100_000];
/** As translateArticle sends them: batches at once, and the bounds of one. */
const PARALLEL_BATCHES = 4;
const BATCH = { maxWords: 400, maxSegments: 40 };
const PROMISED = 1.15;

const model = await startEngineServer(async (request) => {
  await sleep(DELAY_MS);
  return pseudoCompletion(request);
});
const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const translations = await createTranslations(service);
const workspace = await service.workspace('Bench');

/** Seconds that one translation took. */
async function translate(words: number): Promise<number> {
  const { jobId, requestedAt } = await translations.translate(workspace, words);
  const { status } = await untilEnded(service.db, jobId, 600_000);
  if (status !== 'COMPLETED') throw new Error(`the job ended ${status}`);
  return (performance.now() - requestedAt) / 1_000;
}

/** The same article as it is sent. */
function textsOf(words: number): PlannedTexts {
  const snapshot = {
    title: 'A garden in spring',
    metaTitle: null,
    metaDescription: null,
    targetKeywords: [],
    secondaryKeywords: [],
    document: longDocument(words),
    assets: [],
  };
  return planTexts(extractSegments(snapshot), snapshot);
}

/** Seconds of the bare loop that went into the style sheet, by round. */
const lists: number[] = [];

/** Seconds that the engine itself takes for the style sheet and the batches, so many at once. */
async function bare(words: number): Promise<number> {
  const provider = createOpenAiCompatibleProvider({
    baseUrl: model.url,
    model: 'stand-in',
    timeoutMs: 60_000,
  });
  const signal = new AbortController().signal;
  const { title, outline, segments } = textsOf(words);
  // The title is that of the warm-up, and in the memory.
  const sent = segments.filter(({ kind }) => kind !== 'title');
  const batches = planBatches(sent, BATCH).map((batch) =>
    batch.map(({ key, kind, text }) => ({ id: key, kind, text })),
  );
  const context = { title, outline, glossary: [], style: null, sheet: null };
  const job = { sourceLanguage: 'en', targetLanguage: 'es', context, signal };
  const startedAt = performance.now();
  await provider.styleSheet?.({ ...job, texts: sent.map(({ text }) => text), limit: 100 });
  lists.push((performance.now() - startedAt) / 1_000);
  const lane = async (): Promise<void> => {
    for (let segments = batches.shift(); segments !== undefined; segments = batches.shift()) {
      await provider.translate({ ...job, segments });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_BATCHES }, lane));
  return (performance.now() - startedAt) / 1_000;
}

const modelWorker = await service.startWorker({
  TRANSLATION_PROVIDER: 'openai-compatible',
  AI_BASE_URL: model.url,
  AI_MODEL: 'stand-in',
});
// Each process has two threads for large documents: they start with what comes first.
await Promise.all([translate(WORDS), translate(WORDS)]);
/** Requests of each measurement: as many on both sides, or something else was measured than the overhead. */
const requested = new Set<number>();
const counting = async (measure: () => Promise<number>): Promise<number> => {
  const before = model.requests.length;
  const seconds = await measure();
  requested.add(model.requests.length - before);
  return seconds;
};
const { ours, alone } = await alternate(ROUNDS, {
  ours: () => counting(() => translate(WORDS)),
  alone: () => counting(() => bare(WORDS)),
});
if (requested.size !== 1) throw new Error(`the engine got ${[...requested].join(' and ')} requests`);
modelWorker.kill('SIGTERM');
await modelWorker.ended;

await service.startWorker({ TRANSLATION_PROVIDER: 'pseudo' });
await translate(500);
const figures: Figure[] = [];
for (const words of SIZES) {
  const taken: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) taken.push(await translate(words));
  print(`${words} words: ${taken.map((seconds) => seconds.toFixed(2)).join(', ')} s`);
  const name = words.toLocaleString('en');
  figures.push({ name: `${name} words, seconds`, values: taken });
  figures.push({ name: `${name} words, words/s`, values: taken.map((seconds) => words / seconds) });
}

report(
  'translations',
  [
    {
      name: `10,000 words, engine of ${DELAY_MS} ms, s`,
      higherIsBetter: false,
      ours,
      bare: alone,
      promised: PROMISED,
    },
    {
      name: 'the same, beside its batches alone, s',
      higherIsBetter: false,
      ours,
      bare: alone.map((seconds, round) => seconds - (lists[round] ?? 0)),
    },
  ],
  figures,
);
await translations.close();
await service.stop();
await engines.stop();
await model.close();
