/** Which sentences of a block that cites may be corrected, and whether a correction keeps its citations (contract.md N27 and N36). */
import type { Block } from '../../../document/format/schema.ts';
import { collectTexts } from '../../../document/format/walk.ts';
import { toPlainText } from '../../../document/inline/parse.ts';
import { atReferences, hasReference } from '../../../document/text/note-references.ts';

/** A sentence that may be corrected. */
export interface Correctable {
  /** As it stands in its block, without references; white space folded. */
  readonly sentence: string;
  /** Notes, by their numbers from 1: where it cites another one it stays. */
  readonly notes: readonly number[];
}

/** A sentence of a block, without its references. */
interface CitingSentence {
  readonly text: string;
  /** What it cites, in order. */
  readonly numbers: readonly number[];
  /** Null where it has to stay as it is. */
  readonly correctable: Correctable | null;
}

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The texts of a block as shown, with their references. */
const shownTexts = (block: Block): string[] =>
  collectTexts({ version: 1, blocks: [block] }).map(({ text, markdown }) =>
    (markdown ? toPlainText(text) : text).replace(/\s+/gu, ' ').trim(),
  );

/** True for a block that cites, whatever else it has. */
export const hasCitation = (block: Block): boolean => shownTexts(block).some(hasReference);

/** The sentences of a text. A reference behind the full stop belongs to the sentence before it. */
function sentencesOf(text: string, correctables: readonly Correctable[]): CitingSentence[] {
  let bare = '';
  const marks: { readonly at: number; readonly numbers: readonly number[] }[] = [];
  for (const piece of atReferences(text)) {
    if ('text' in piece) bare += piece.text;
    else marks.push({ at: Math.max(0, bare.length - 1), numbers: piece.numbers });
  }
  const places = correctables.flatMap((correctable) => {
    const from = bare.indexOf(correctable.sentence);
    return from < 0 ? [] : [{ correctable, from, to: from + correctable.sentence.length }];
  });
  return [...SENTENCES.segment(bare)].map(({ segment, index: from }) => {
    const to = from + segment.length;
    const numbers = marks.filter(({ at }) => at >= from && at < to).flatMap((mark) => mark.numbers);
    const place = places.find(
      ({ correctable: { notes }, ...own }) =>
        own.from < to && own.to > from && numbers.every((number) => notes.includes(number)),
    );
    return { text: segment.trim(), numbers, correctable: place?.correctable ?? null };
  });
}

const sentencesIn = (block: Block, correctables: readonly Correctable[]): readonly CitingSentence[] =>
  shownTexts(block).flatMap((text) => sentencesOf(text, correctables));

/** The sentences of a block as shown, without references. */
export const sentencesOfBlock = (block: Block): readonly string[] =>
  sentencesIn(block, []).map(({ text }) => text);

/** Those that may be corrected in a block: a sentence that cites only where it names all its notes. */
export function correctableIn(block: Block, correctables: readonly Correctable[]): readonly Correctable[] {
  const open = new Set(sentencesIn(block, correctables).map(({ correctable }) => correctable));
  return correctables.filter((correctable) => open.has(correctable));
}

/**
 * True when a block has the citations of the one that it replaces, in their order, and every sentence that may not be corrected
 * word for word with its own.
 */
export function keepsCitations(old: Block, block: Block, correctables: readonly Correctable[]): boolean {
  const before = sentencesIn(old, correctables);
  const after = sentencesIn(block, []);
  const same = (one: CitingSentence, other: CitingSentence | undefined): boolean =>
    one.text === other?.text && String(one.numbers) === String(other.numbers);
  let at = 0;
  for (const sentence of before) {
    if (sentence.correctable !== null) continue;
    while (at < after.length && !same(sentence, after[at])) at += 1;
    if (at === after.length) return false;
    at += 1;
  }
  return String(numbersOf(before)) === String(numbersOf(after));
}

const numbersOf = (sentences: readonly CitingSentence[]): number[] =>
  sentences.flatMap(({ numbers }) => numbers);
