import type { DocumentJson } from '../format/schema.ts';
import { collectTexts } from '../format/walk.ts';
import { toPlainText, weighInline } from '../inline/parse.ts';
import { withoutReferences } from '../text/note-references.ts';

/** A sentence and the block that it was written in. */
export interface PlacedSentence {
  readonly blockId: string;
  readonly sentence: string;
}

const fold = (text: string): string => text.replace(/\s+/gu, ' ').trim();

/** The block's texts as shown, without numbers of sources; one with too many marks to parse is shown as written. */
const shownTexts = (block: DocumentJson['blocks'][number]): string[] =>
  collectTexts({ version: 1, blocks: [block] }).map(({ markdown, text }) =>
    fold(withoutReferences(markdown && weighInline(text).problem === null ? toPlainText(text) : text)),
  );

/** Whether each sentence stands in its block as shown. JSON text in: blocks, and a list of PlacedSentence. */
export function standing(blocks: string, sentences: string): boolean[] {
  const texts = new Map(
    (JSON.parse(blocks) as DocumentJson['blocks']).map((block) => [block.id, shownTexts(block)]),
  );
  return (JSON.parse(sentences) as readonly PlacedSentence[]).map(
    ({ blockId, sentence }) => texts.get(blockId)?.some((text) => text.includes(fold(sentence))) === true,
  );
}
