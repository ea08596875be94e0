import { loopTurn } from '../../threads/turns.ts';
import type { SourceText } from '../notes/note.ts';
import { createRanking } from '../ranking/ranking.ts';
import { termsOf } from '../ranking/terms.ts';
import type { Passage } from './passage.ts';

/** Characters of a passage: a longer paragraph is divided between sentences, a longer sentence between words. */
const MAX_PASSAGE = 600;
/** A paragraph so short and without an end is a heading. */
const MAX_HEADING = 120;
const SENTENCE_END = /[.!?:;…。！？।]["'”’»)]*$/u;
/** Title and heading say what a passage is about, and are no part of it. */
const CONTEXT_WEIGHT = 0.4;
/** Characters read before others have their turn on the event loop. */
const TURN_CHARACTERS = 8_000;
const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Parts of a paragraph of at most MAX_PASSAGE characters, each as it stands there. */
function divide(paragraph: string): string[] {
  if (paragraph.length <= MAX_PASSAGE) return [paragraph];
  const parts: string[] = [];
  let part = '';
  const end = (): void => {
    if (part.trim() !== '') parts.push(part.trim());
    part = '';
  };
  for (const { segment } of SENTENCES.segment(paragraph)) {
    if (part.length + segment.length > MAX_PASSAGE) end();
    part += segment;
    while (part.length > MAX_PASSAGE) {
      const space = part.lastIndexOf(' ', MAX_PASSAGE);
      const at = space > MAX_PASSAGE / 2 ? space : MAX_PASSAGE;
      parts.push(part.slice(0, at).trim());
      part = part.slice(at);
    }
  }
  end();
  return parts;
}

interface Part {
  readonly text: string;
  readonly heading: string;
}

/** The passages of a text, each below its heading. */
function partsOf(text: string): Part[] {
  let heading = '';
  return text.split('\n\n').flatMap((paragraph) => {
    if (paragraph.length <= MAX_HEADING && !SENTENCE_END.test(paragraph)) {
      heading = paragraph;
      return [];
    }
    return divide(paragraph).map((part) => ({ text: part, heading }));
  });
}

/** The passages of sources, to compare claims with. */
export interface PassageIndex {
  /** The `most` passages nearest to a claim, best first; none that shares no word with it. */
  best(claim: string, most: number): readonly Passage[];
}

/**
 * Indexes the texts of sources (contract.md N12), in turns with other work on the event loop.
 * @param language of the claims: its stems are compared
 */
export async function indexPassages(sources: readonly SourceText[], language: string): Promise<PassageIndex> {
  const ranking = createRanking();
  const passages: { readonly sourceId: SourceText['id']; readonly text: string }[] = [];
  let untilTurn = TURN_CHARACTERS;
  for (const { id, title, text } of sources) {
    for (const part of partsOf(text)) {
      untilTurn -= part.text.length;
      if (untilTurn < 0) {
        await loopTurn();
        untilTurn = TURN_CHARACTERS;
      }
      passages.push({ sourceId: id, text: part.text });
      ranking.add([
        { terms: termsOf(part.text, language), weight: 1 },
        { terms: termsOf(`${title} ${part.heading}`, language), weight: CONTEXT_WEIGHT },
      ]);
    }
  }
  return {
    best: (claim, most) =>
      ranking.best(termsOf(claim, language), most).flatMap(({ at, score }) => {
        const passage = passages[at];
        return passage === undefined ? [] : [{ ...passage, score }];
      }),
  };
}
