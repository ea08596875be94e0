/** The editor's pass: the whole article read once, and changed where that is worth it (contract.md G71 to G75). */
import { deliveredWords } from './delivered.ts';
import { fewestWords } from './price.ts';
import { bodyRoom } from './target-lengths.ts';
import { headingWords, lengthsOf, type TextPart, textParts } from './text-parts.ts';
import { EDITS_WORDS, type WritingDependencies, type WritingTask, writeOptionalPart } from './write.ts';
import type { WritingBrief } from './writing/brief.ts';
import { applyEdits, type WordBounds } from './writing/editing/apply-edits.ts';
import { requestEdits } from './writing/editing/request-edits.ts';

/** The editor's pass as stored. What it made of the parts is stored with them. */
export interface StoredEdits {
  readonly edits: readonly {
    readonly blockId: string;
    readonly change: 'replaced' | 'deleted';
    readonly reason: string;
  }[];
  /** Edits that broke a rule. */
  readonly refused: number;
  /** Parts that nobody read, because they did not fit into the model's context. */
  readonly unread: number;
}

/** Has an editor read the whole, unless that was done. The article does without a pass that fails. */
export async function editArticle(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  await writeOptionalPart(dependencies, task, 'edits', async (writer, work, answered) => {
    const { brief, outline } = work;
    if (outline === null) throw new Error(`job ${task.jobId} has no outline`);
    const texts = textParts(brief.config, outline, work.parts);
    const draft = texts.map(({ text, ...part }) => ({ ...part, blocks: text.blocks }));
    const request = { brief, outline, parts: draft, answered, signal: task.signal };
    const { edits, unusable, unread } = await requestEdits(writer, request);
    const edited = applyEdits(
      draft.map(({ blocks }) => blocks),
      edits,
      boundsOf(brief, texts),
    );
    const revised = texts.flatMap(({ part, text }, index): [number, object][] => {
      const blocks = edited.parts[index] ?? text.blocks;
      return blocks === text.blocks ? [] : [[part, { ...text, blocks, words: deliveredWords(blocks) }]];
    });
    const content: StoredEdits = {
      edits: edited.applied.map(({ blockId, block, reason }) => ({
        blockId,
        change: block === null ? 'deleted' : 'replaced',
        reason,
      })),
      refused: edited.refused.length + unusable,
      unread,
    };
    return { content, words: EDITS_WORDS, revised: new Map(revised) };
  });
}

/** Edits neither make an article too short to be sold, nor longer than it may be. */
function boundsOf({ config }: WritingBrief, texts: readonly TextPart[]): WordBounds {
  const headings = headingWords(texts);
  const words = deliveredWords(texts.flatMap(({ text }) => text.blocks));
  return {
    least: Math.min(words, fewestWords(config) - headings),
    most: bodyRoom(lengthsOf(config)) - headings,
  };
}
