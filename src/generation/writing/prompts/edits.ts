import { z } from 'zod';
import { strictSchema } from '../../../providers/strict-schema.ts';
import type { NumberedPart } from '../editing/draft.ts';
import { STRUCTURED_TOKENS } from '../output-tokens.ts';
import type { Asking, Prompt } from './shared.ts';

export const editsOutput = z.object({
  edits: z.array(
    z.object({
      block: z.int().describe('The number of the block.'),
      action: z.enum(['replace', 'delete']),
      text: z
        .string()
        .describe('The whole block as it should read, in Markdown, of the same kind; empty for delete.'),
      reason: z.string().describe('What was wrong, in at most ten words.'),
    }),
  ),
});

export type EditsOutput = z.output<typeof editsOutput>;

/** What checks without a model found, by the numbers of blocks. */
export interface FoundInDraft {
  readonly nearCopies: readonly { readonly block: number; readonly of: number }[];
  readonly unsupportedFigures: readonly { readonly block: number; readonly figure: string }[];
  /** What the keyword lacks, in words; absent when nothing. */
  readonly keyword?: string;
}

export interface EditsQuestion extends Asking<'edits'> {
  /** What is read at once: the whole article, or a half of it. */
  readonly draft: readonly NumberedPart[];
  /** Which reading this is, of how many. */
  readonly reading: { readonly number: number; readonly of: number };
  readonly found: FoundInDraft;
  /** The most edits. */
  readonly edits: number;
}

export const editsPrompt: Prompt<EditsQuestion> = {
  version: 4,
  schema: strictSchema(editsOutput),
  tokens: () => STRUCTURED_TOKENS.edits,
  lines: ({ draft }) => draft.map((part) => JSON.stringify(part)),
  data: ({ found, reading }) => ({
    found,
    ...(reading.of === 1 ? {} : { reading }),
  }),
  task: ({ brief, edits, reading }) => [
    reading.of === 1
      ? 'You are the editor now. The lines above are the finished draft, part by part; each block that you may change has a number.'
      : `You are the editor now. The lines above are half ${reading.number} of ${reading.of} of the finished draft, part by part; each block that you may change has a number.`,
    'Read it to its end as its reader would, then say what has to change. Read for these, the gravest first:',
    '- Two blocks that say the same: keep the one that stands where it is needed, delete the other or make it say what only it can. `found.nearCopies` names pairs.',
    '- Two blocks that contradict each other.',
    '- A promise of the title that no block keeps.',
    brief.notes.length === 0
      ? '- A figure without a source. `found.unsupportedFigures` names those that the customer did not give: write the sentence without the figure, unless it is common knowledge, an instruction or a count of what stands here.'
      : '- A claim without support: a fact that neither a note nor the customer has, and that a reader could doubt. `found.unsupportedFigures` names figures found in none of them: write the sentence without the figure, unless it is common knowledge, an instruction or a count of what stands here.',
    '- A jump where the reader is lost: give the block the sentence that is missing.',
    '- A sentence that could stand in any article, a worn phrase, praise of the reader.',
    '- The keyword missing or forced. `found.keyword` says what is missing.',
    '- An end that only stops, or that sums up.',
    'Cut before you add. Change nothing that is right: no edits at all are a good result. Never make the article longer than it is.',
    `Give at most ${edits} edits, each block once, with the reason in at most ten words. A replacement is the whole block, of the same kind (a paragraph stays a paragraph, a list a list), in the language and voice of the draft. It adds no name, figure or source that is not in the draft. Words in \`linked\` stay if you can keep them.`,
    ...(brief.notes.length === 0
      ? []
      : [
          'Where a block cites with numbers such as `[3]`, change only the sentence with the figure; keep every number where it stands, and each other sentence word for word.',
        ]),
    'Good reasons: “Says what block 4 says.” “Contradicts block 12: weekly, not daily.” “Figure without a source.” Bad: “Improved flow.” “Made it more engaging.”',
  ],
};
