/**
 * Writes articles from the briefs of `briefs.json` with the model of AI_BASE_URL, or `pseudo`, without a database, and
 * shows what they took. They are researched in the pages that ship with the service, or as SEARCH_PROVIDER says; with
 * WEB_RESEARCH=false they are not. See CONTRIBUTING.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { z } from 'zod';
import { loadConfig } from '../src/config.ts';
import { createArticleWriters } from '../src/generation/writing/index.ts';
import { createResearch } from '../src/research/create.ts';
import { readBriefs } from './briefs.ts';
import { evaluate } from './evaluate.ts';
import { pageOf } from './page.ts';
import { tableOf, textTable } from './table.ts';

const count = (most: number) => z.coerce.number().int().min(1).max(most);
const price = z.coerce.number().min(0);
const optionsSchema = z
  .object({
    briefs: z.string().optional(),
    first: count(100).optional(),
    words: count(10_000).optional(),
    calls: count(500).default(120),
    minutes: count(600).default(30),
    input: price.optional(),
    output: price.optional(),
    prompts: z.boolean().default(false),
    out: z.string().default(path.join(tmpdir(), 'wcs-eval')),
  })
  .refine(({ input, output }) => (input === undefined) === (output === undefined), {
    error: 'Give both --input and --output, the prices of a million tokens, or none.',
  });

const { values } = parseArgs({
  options: {
    briefs: { type: 'string' },
    first: { type: 'string' },
    words: { type: 'string' },
    calls: { type: 'string' },
    minutes: { type: 'string' },
    input: { type: 'string' },
    output: { type: 'string' },
    prompts: { type: 'boolean' },
    out: { type: 'string' },
  },
});
const options = optionsSchema.parse(values);
const config = loadConfig({
  ...process.env,
  WEB_RESEARCH: process.env.WEB_RESEARCH ?? 'true',
  SEARCH_PROVIDER: process.env.SEARCH_PROVIDER ?? 'pseudo',
  GENERATION_PROVIDER:
    process.env.GENERATION_PROVIDER ??
    (process.env.AI_BASE_URL === undefined ? 'pseudo' : 'openai-compatible'),
});
const names = options.briefs?.split(',');
const briefs = readBriefs()
  .filter(({ name }) => names?.includes(name) ?? true)
  .slice(0, options.first)
  .map((brief) => ({
    ...brief,
    config: { ...brief.config, wordCount: options.words ?? brief.config.wordCount },
  }));
const writers = await createArticleWriters(config, pino({ level: 'warn' }, pino.destination(2)));
const research = await createResearch(config);
const results = await evaluate(briefs, {
  writers,
  research,
  limits: {
    reasoningTokens: config.AI_REASONING_TOKENS,
    maxOutputTokens: config.AI_MAX_OUTPUT_TOKENS,
    contextTokens: config.AI_CONTEXT_TOKENS,
  },
  date: new Date().toISOString().slice(0, 'yyyy-mm-dd'.length),
  maxCalls: options.calls,
  articleMs: options.minutes * 60_000,
  onProgress: (line) => process.stderr.write(`${line}\n`),
});
await research?.close();
const { input, output, prompts } = options;
const prices = input === undefined || output === undefined ? null : { input, output };
const table = tableOf(results, prices);
const title = `Articles by ${writers.premium.model}`;
mkdirSync(options.out, { recursive: true });
const file = path.join(options.out, 'eval.html');
writeFileSync(file, pageOf(results, { title, table, prompts }));
process.stdout.write(`${textTable(table)}\n\n${file}\n`);
