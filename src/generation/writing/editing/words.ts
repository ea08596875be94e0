/** Words as the checks of a draft compare them. */

import type { Block } from '../../../document/format/schema.ts';
import { collectTexts } from '../../../document/format/walk.ts';
import { toPlainText } from '../../../document/inline/parse.ts';
import { folded } from '../../../document/text/characters.ts';
import { withoutReferences } from '../../../document/text/note-references.ts';
import { stemsOf } from '../../../document/text/stems.ts';

/** A character of a script without spaces. */
const NO_SPACES =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]';
const WORD = new RegExp(`${NO_SPACES}|(?:(?!${NO_SPACES})[\\p{L}\\p{M}\\p{N}])+`, 'gu');
const CHARACTER = new RegExp(`^${NO_SPACES}`, 'u');

/** True for what stands for a character of a script without spaces. */
export const isCharacter = (word: string): boolean => CHARACTER.test(word);

/** The words of a text without case and accents, in order; of a script without spaces each character. Linear. */
export const comparedWords = (text: string): string[] => folded(text.normalize('NFKC')).match(WORD) ?? [];

/** The same as stems, where the language has a stemmer. */
export function comparedStems(text: string, language: string): string[] {
  const stems = stemsOf(language);
  const words = text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
  return words.map((word) => stems?.stem(word) ?? folded(word));
}

/** The visible texts of the blocks, without code, alternative texts and references to notes. */
export function visibleTexts(blocks: readonly Block[]): string[] {
  return collectTexts({ version: 1, blocks: [...blocks] }).flatMap(({ text, markdown, kind }) =>
    kind === 'altText' ? [] : [withoutReferences(markdown ? toPlainText(text) : text)],
  );
}
