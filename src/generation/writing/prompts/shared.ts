/** What all requests of a run have in common. Their turns begin alike, so that servers can keep what they have read. */

import type { PartKind } from '../../../db/tables.ts';
import type { RejectedResponse } from '../../../providers/ask.ts';
import type { ArticleSoFar, Defect, WritingBrief } from '../brief.ts';

/** What every question has. */
export interface Asking<Kind extends PartKind> {
  readonly kind: Kind;
  readonly brief: WritingBrief;
  /** The article so far; null before its outline. */
  readonly article: ArticleSoFar | null;
  /** Aborts the call; the writer then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** The rejected response, in a repair request. */
  readonly rejected?: RejectedResponse<Defect> | undefined;
}

/** How a kind of question is put. */
export interface Prompt<Question extends Asking<PartKind>> {
  /** Counted up with every change of the words, so that texts of different prompts differ. */
  readonly version: number;
  /** The JSON Schema of the response; null for a text. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** Most tokens of the response. */
  tokens(question: Question): number;
  /** What customers, models and counts say about this task. */
  data(question: Question): Readonly<Record<string, unknown>>;
  /** Lines of JSON in place of the text so far. */
  lines?(question: Question): readonly string[];
  /** Its place in the article, then the task, in sentences: ours alone. */
  task(question: Question): readonly string[];
}

/** The form of a text. */
export const MARKDOWN_ALONE =
  'Respond with the text alone, as Markdown: paragraphs, lists, tables, fenced code, bold, italic, inline code. No images, footnotes or horizontal rules, and no quotation without its source on a last line that begins with a dash.';
