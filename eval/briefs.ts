import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { generationConfigSchema } from '../src/generation/config.ts';

const briefSchema = z.object({
  name: z.string(),
  config: generationConfigSchema,
  /** Titles of articles that the text may link to. */
  links: z.array(z.string()),
});

/** A brief to write an article from. */
export type EvalBrief = z.output<typeof briefSchema>;

const FILE = path.join(import.meta.dirname, 'briefs.json');

/** The briefs of `briefs.json`: ten kinds of articles in three languages. */
export const readBriefs = (): EvalBrief[] =>
  z.array(briefSchema).parse(JSON.parse(readFileSync(FILE, 'utf8')));
