import type { InlineRun } from '../inline/runs.ts';
import { ParsedTexts } from '../inline/texts.ts';
import type { DocumentJson } from './schema.ts';
import { collectTexts } from './walk.ts';
import { textWeight } from './words.ts';

/**
 * Weight of what is translated of a document although it does not count as words of the body: alternative texts, and
 * the titles of inline links.
 */
export function uncountedWeight(document: DocumentJson, texts = new ParsedTexts()): number {
  let weight = 0;
  for (const field of collectTexts(document)) {
    if (field.kind === 'altText') {
      weight += textWeight(field.text);
    } else if (field.markdown && field.text.includes('](')) {
      for (const title of titlesIn(texts.runs(field.text))) weight += textWeight(title);
    }
  }
  return weight;
}

/** The title of each link once, however many runs it has. */
function titlesIn(runs: readonly InlineRun[]): string[] {
  return [...new Set(runs.map(({ link }) => link))].flatMap((link) => link?.title ?? []);
}
