import { strictSchema } from '../../../providers/strict-schema.ts';
import type { NumberedPart } from '../editing/draft.ts';
import { STRUCTURED_TOKENS } from '../output-tokens.ts';
import { editsOutput } from './edits.ts';
import type { Asking, Prompt } from './shared.ts';

/** A sentence of a block that a passage contradicts. */
export interface Contradiction {
  /** The number of the block. */
  readonly block: number;
  readonly sentence: string;
  readonly passage: string;
  readonly site: string;
}

export interface CorrectionsQuestion extends Asking<'corrections'> {
  /** The parts with such sentences. */
  readonly draft: readonly NumberedPart[];
  readonly contradictions: readonly Contradiction[];
}

export const correctionsPrompt: Prompt<CorrectionsQuestion> = {
  version: 2,
  schema: strictSchema(editsOutput),
  tokens: () => STRUCTURED_TOKENS.edits,
  lines: ({ draft }) => draft.map((part) => JSON.stringify(part)),
  data: ({ contradictions }) => ({ contradictions }),
  task: () => [
    'You are the editor now. The lines above are parts of the finished draft; each block that you may change has a number. `contradictions` are sentences of it that passages of web pages contradict.',
    'Judge each: where the passage is about the same thing and more likely right, replace the block so that its sentence says what the passage says, or leave the claim out. Where the passage is about something else, is older, or is no better than the sentence, give no edit.',
    'Change no more of the block than that sentence asks for. A replacement is the whole block, of the same kind, in the language and voice of the draft. It brings no name, figure or source that neither the draft nor the passage has. Do not name or link the page.',
    'Where a block cites with numbers such as `[3]`, keep every number where it stands, and each of its other sentences word for word.',
    'Give each block at most once, with the reason in at most ten words. Good reasons: “Passage says 20 litres, not 40.” “Applies to open ground only.” Bad: “More accurate.”',
  ],
};
