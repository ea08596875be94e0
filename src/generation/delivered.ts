/** Words that a generation delivers and charges (contract.md G60). */
import type { Block } from '../document/format/schema.ts';
import { collectTexts } from '../document/format/walk.ts';
import { countTextWords } from '../document/format/words.ts';
import { toPlainText } from '../document/inline/parse.ts';
import { withoutReferences } from '../document/text/note-references.ts';

/** Words of the text and of the code in it, without captions, alternative texts and references to notes (contract.md N26). */
export function deliveredWords(blocks: readonly Block[]): number {
  let words = 0;
  for (const { kind, text, markdown } of collectTexts({ version: 1, blocks: [...blocks] })) {
    if (kind !== 'altText' && kind !== 'caption')
      words += countTextWords(withoutReferences(markdown ? toPlainText(text) : text));
  }
  for (const block of blocks) if (block.type === 'code') words += codeWords(block.text);
  return words;
}

/** Words of code, line by line: a line is where code can be cut. */
export const codeWords = (code: string): number =>
  code.split('\n').reduce((sum, line) => sum + countTextWords(line), 0);
