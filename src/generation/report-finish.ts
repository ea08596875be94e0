/** What the report of a generation says of the editor's pass, the lead and the checks (contract.md G72 and G86). */
import { z } from 'zod';
import type { JobStatus, PartKind } from '../db/tables.ts';
import type { StoredEdits } from './edit.ts';
import { ofKind } from './parts.ts';

export const repairs = z
  .array(z.string())
  .describe('Why responses of the writer were rejected before the final one');
const finished = {
  written: z.boolean(),
  leftOut: z.boolean().describe('No usable response came: it was left out'),
  repairs,
};

export const editingSchema = z
  .object({
    ...finished,
    edits: z
      .array(
        z.object({
          blockId: z.string(),
          change: z.enum(['replaced', 'deleted']),
          reason: z.string().nullable().describe('Null in a job that is not COMPLETED'),
        }),
      )
      .describe('Blocks that were changed; none once RETENTION_DAYS are over'),
    refused: z.int().min(0).describe('Edits that broke a rule, such as one of a heading'),
    unread: z.int().min(0).describe('Parts that did not fit into the context of the model'),
  })
  .nullable()
  .describe("The editor's pass over the whole; null before it is planned");

export const leadSchema = z
  .object({
    ...finished,
    words: z.int().min(0).describe('As planned until it is written; 0 where the article has none'),
    named: z.boolean().describe('True when title, slug and meta texts were rewritten from the text'),
  })
  .nullable()
  .describe('The text before the first heading, and the names of the article; null before it is planned');

export const checksSchema = z
  .object({
    nearCopies: z
      .array(z.object({ blockId: z.string(), ofBlockId: z.string(), share: z.number() }))
      .describe('Paragraphs that nearly repeat one of another part'),
    sameHeadings: z
      .array(z.object({ blockId: z.string(), asBlockId: z.string() }))
      .describe('Headings with the same words as an earlier one'),
    keyword: z
      .object({
        inLead: z.boolean(),
        inHeading: z.boolean(),
        density: z.number().describe('Share of the words that belong to it'),
        tooDense: z.boolean().describe('Above 3 %'),
      })
      .nullable()
      .describe('The use of primaryKeyword; null without one'),
    figures: z
      .array(z.object({ blockId: z.string(), figure: z.string() }))
      .describe("Figures found neither in the customer's input, nor in a note or a passage of a source"),
    lengths: z
      .array(z.object({ id: z.string(), planned: z.int(), words: z.int() }))
      .describe(
        'Words of each part with its heading, by the ids of sections; ` lead` and ` faq` are the others',
      ),
  })
  .nullable()
  .describe(
    'What can be seen in the finished text without a model, of a job that is COMPLETED, until RETENTION_DAYS are over',
  );

/** A part as the report reads it. */
interface ReportedPart {
  readonly kind: PartKind;
  readonly words: number;
  readonly written: boolean;
  readonly left_out: boolean;
  readonly repairs: string[];
  /** Of the pass its content, of the lead what it has. */
  readonly finish: unknown;
}

interface Finish {
  readonly editing: z.infer<typeof editingSchema>;
  readonly corrections: z.infer<typeof editingSchema>;
  readonly lead: z.infer<typeof leadSchema>;
}

/** A part that is not there once the article is, was left out, too. */
export function finishOf(parts: readonly ReportedPart[], status: JobStatus): Finish {
  const isDone = status === 'COMPLETED';
  const stateOf = ({ written, left_out, repairs: rejected }: ReportedPart) => ({
    written: written && !left_out,
    leftOut: left_out || (isDone && !written),
    repairs: rejected,
  });
  const passOf = (part: ReportedPart | undefined): Finish['editing'] => {
    if (part === undefined) return null;
    const { edits: applied = [], refused = 0, unread = 0 } = (part.finish ?? {}) as Partial<StoredEdits>;
    return {
      ...stateOf(part),
      edits: applied.map((edit) => ({ ...edit, reason: isDone ? edit.reason : null })),
      refused,
      unread,
    };
  };
  const [edits] = ofKind(parts, 'edits');
  const [corrections] = ofKind(parts, 'corrections');
  const [lead] = ofKind(parts, 'lead');
  const { named } = (lead?.finish ?? {}) as { readonly named?: boolean | null };
  return {
    editing: passOf(edits),
    corrections: passOf(corrections),
    lead: lead === undefined ? null : { ...stateOf(lead), words: lead.words, named: named === true },
  };
}
