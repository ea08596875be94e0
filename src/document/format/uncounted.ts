import type { InlineRun } from '../inline/runs.ts';
import { ParsedTexts } from '../inline/texts.ts';
import type { DocumentJson } from './schema.ts';
import { collectTexts } from './walk.ts';
import { countTextWords } from './words.ts';

/**
 * Words of a document that are translated although they do not count as words of the body: alternative texts, and
 * the titles of inline links.
 */
export function countUncountedWords(document: DocumentJson, texts = new ParsedTexts()): number {
  let count = 0;
  for (const field of collectTexts(document)) {
    if (field.kind === 'altText') {
      count += countTextWords(field.text);
    } else if (field.markdown && field.text.includes('](')) {
      for (const title of titlesIn(texts.runs(field.text))) count += countTextWords(title);
    }
  }
  return count;
}

/** The title of each link once, however many runs it has. */
function titlesIn(runs: readonly InlineRun[]): string[] {
  return [...new Set(runs.map(({ link }) => link))].flatMap((link) => link?.title ?? []);
}
