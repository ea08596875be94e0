/** Which of the quotes that a model proposed are notes. */
import { countTextWords } from '../../document/format/words.ts';
import { MAX_NOTES, MAX_NOTES_OF_SOURCE, MAX_QUOTE_WORDS } from '../limits.ts';
import { speaksToModels } from '../reading/speaks-to-models.ts';
import type { Note, SourceText } from './note.ts';

/** A quote as a model gave it, with the source's number as it was shown: the first is 1. */
export interface ProposedNote {
  readonly source: number;
  readonly quote: string;
}

export const NOTE_REFUSALS = [
  'The source has no such number.',
  'The quote is not verbatim from its source.',
  'The quote is longer than 40 words.',
  'The quote is too short to say anything.',
  'The quote has an address or a control character.',
  'The quote contains instructions to a model.',
  'The quote was given twice.',
  'The source has enough notes.',
] as const;
export type NoteRefusal = (typeof NOTE_REFUSALS)[number];

export interface CheckedNotes {
  /** In the order in which they were proposed; at most MAX_NOTES. */
  readonly notes: readonly Note[];
  /** In words for the model; at most MAX_REFUSED. */
  readonly refused: readonly { readonly note: ProposedNote; readonly refusal: NoteRefusal }[];
}

const MIN_WORDS = 3;
/** Characters of forty long words. */
const MAX_QUOTE = 600;
/** Proposals looked at, and refusals kept. */
const MAX_PROPOSED = 200;
const MAX_REFUSED = 20;
const CONTROL = /\p{Cc}/u;
/** A scheme, a host with a known ending, or an e-mail address. */
const ADDRESS =
  /[a-z][a-z0-9+.-]{1,15}:\/\/|\bwww\.|@[\w-]{1,63}\.|[\w-]\.(?:com|org|net|edu|gov|io|info|biz|dev|app|ai|shop|online|xyz|eu|de|fr|es|it|nl|pl|pt|uk|ch|at|se|ru|cn|jp|localhost)\b(?!\.\w)|\b(?:mailto|javascript|data):/i;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/** Any white space is one space. */
const fold = (text: string): string => text.replace(/\s+/gu, ' ').trim();

/** True where the quote stands in the text and begins and ends with whole words. */
function stands(quote: string, text: string): boolean {
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    const cutsBefore = WORD.test(text.charAt(at - 1)) && WORD.test(quote.charAt(0));
    const end = at + quote.length;
    const cutsAfter = WORD.test(text.charAt(end)) && WORD.test(quote.charAt(quote.length - 1));
    // Scripts without spaces have no such ends.
    if ((!cutsBefore && !cutsAfter) || /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(quote))
      return true;
  }
  return false;
}

/**
 * Keeps the quotes that stand word for word in their source, white space apart (contract.md N8). Pure and linear, whatever a model
 * proposes.
 * @param sources in the order of their numbers
 */
export function checkNotes(proposed: readonly ProposedNote[], sources: readonly SourceText[]): CheckedNotes {
  const texts = sources.map(({ text }) => fold(text));
  const ofSource = new Map<number, number>();
  const given = new Set<string>();
  const notes: Note[] = [];
  const refused: { note: ProposedNote; refusal: NoteRefusal }[] = [];

  const refusalOf = (source: number, quote: string): NoteRefusal | null => {
    const text = texts[source - 1];
    if (text === undefined) return 'The source has no such number.';
    if (quote.length > MAX_QUOTE || countTextWords(quote) > MAX_QUOTE_WORDS)
      return 'The quote is longer than 40 words.';
    if (countTextWords(quote) < MIN_WORDS) return 'The quote is too short to say anything.';
    if (CONTROL.test(quote) || ADDRESS.test(quote)) return 'The quote has an address or a control character.';
    if (!stands(quote, text)) return 'The quote is not verbatim from its source.';
    if (speaksToModels(quote) !== null) return 'The quote contains instructions to a model.';
    if (given.has(quote)) return 'The quote was given twice.';
    return (ofSource.get(source) ?? 0) >= MAX_NOTES_OF_SOURCE ? 'The source has enough notes.' : null;
  };

  for (const note of proposed.slice(0, MAX_PROPOSED)) {
    if (notes.length === MAX_NOTES) break;
    const quote = fold(note.quote.slice(0, MAX_QUOTE * 4));
    const refusal = refusalOf(note.source, quote);
    const source = sources[note.source - 1];
    if (refusal !== null || source === undefined) {
      if (refused.length < MAX_REFUSED)
        refused.push({ note, refusal: refusal ?? 'The source has no such number.' });
      continue;
    }
    given.add(quote);
    ofSource.set(note.source, (ofSource.get(note.source) ?? 0) + 1);
    notes.push({ sourceId: source.id, quote });
  }
  return { notes, refused };
}
