import type { DocumentJson } from '../src/document/format/schema.ts';
import { countTextWords } from '../src/document/format/words.ts';
import { deliveredWords } from '../src/generation/delivered.ts';
import { articlesFor } from '../src/generation/linkable/assign.ts';
import type { Outline } from '../src/generation/outline.ts';
import { bodyRoom, leadRoom, partLengths } from '../src/generation/target-lengths.ts';
import { lengthsOf } from '../src/generation/text-parts.ts';
import { assembleBody } from '../src/generation/writing/assemble.ts';
import type { LinkableArticle, WritingBrief, WrittenPart } from '../src/generation/writing/brief.ts';
import type { CitedSource } from '../src/generation/writing/citations.ts';
import { applyEdits, type EditedDraft } from '../src/generation/writing/editing/apply-edits.ts';
import { type DraftPart, withHeading } from '../src/generation/writing/editing/check-draft.ts';
import { requestEdits } from '../src/generation/writing/editing/request-edits.ts';
import { faqHeading } from '../src/generation/writing/faq-headings.ts';
import { makePlan } from '../src/generation/writing/make-plan.ts';
import type { Plan } from '../src/generation/writing/plan.ts';
import { planOutline } from '../src/generation/writing/plan-outline.ts';
import { FAQ_ID, writeFaq } from '../src/generation/writing/write-faq.ts';
import { LEAD_ID, type WrittenLead, writeLead } from '../src/generation/writing/write-lead.ts';
import { writeSection } from '../src/generation/writing/write-section.ts';
import type { ArticleWriter } from '../src/generation/writing/writer.ts';
import { isUnusable } from '../src/providers/types.ts';

export interface WrittenArticle {
  readonly outline: Outline;
  readonly plan: Plan | null;
  /** The sections after the editor's pass. */
  readonly parts: readonly WrittenPart[];
  readonly faq: WrittenPart | null;
  readonly edited: EditedDraft;
  /** Null when none could be made. */
  readonly lead: WrittenLead | null;
  /** The finished text by parts, lead first, each section with its heading. */
  readonly draft: readonly DraftPart[];
  readonly document: DocumentJson;
}

/** What may fail without failing a run. */
const orNull = <Value>(made: Promise<Value>): Promise<Value | null> =>
  made.catch((error: unknown) => {
    if (isUnusable(error)) return null;
    throw error;
  });

/**
 * Writes an article with the steps of a run, without a database.
 * @param given the outline; without one the article is planned first
 * @param sources where the notes of the brief are from
 */
export async function writeArticle(
  writer: ArticleWriter,
  brief: WritingBrief,
  articles: readonly LinkableArticle[] = [],
  given?: Outline,
  signal: AbortSignal = new AbortController().signal,
  sources: readonly CitedSource[] = [],
): Promise<WrittenArticle> {
  const outline = given ?? (await planOutline(writer, { brief, signal }));
  const plan = await orNull(makePlan(writer, { brief, outline, signal }));
  const lengths = lengthsOf(brief.config, plan);
  const basis = { brief, outline, plan, lead: lengths.lead, signal };
  const planned = partLengths(lengths, outline);
  const written: WrittenPart[] = [];
  for (const index of outline.sections.keys()) {
    const finished = [...written];
    const offered = articlesFor(outline, { index, finished }, articles);
    written.push(await writeSection(writer, { ...basis, index, finished, articles: offered }));
  }
  const { language } = brief.config;
  const asked = brief.config.faq ? await writeFaq(writer, { ...basis, finished: written }) : null;
  const draft = [...written, ...(asked === null ? [] : [asked])].map(({ blocks }, index) => {
    const { id, heading } = outline.sections[index] ?? { id: FAQ_ID, heading: faqHeading(language) };
    return { id, heading, planned: planned[index] ?? 0, blocks };
  });
  const requested = await orNull(
    requestEdits(writer, { brief, outline, isApproved: false, plan, parts: draft, signal }),
  );
  const headings = countTextWords(draft.map(({ heading }) => heading).join('\n'));
  const edited = applyEdits(
    draft.map(({ blocks }) => blocks),
    requested?.edits ?? [],
    { least: 0, most: bodyRoom(lengths) - headings },
    requested?.correctable,
  );
  const parts = written.map((part, index) => ({ ...part, blocks: edited.parts[index] ?? part.blocks }));
  const faq = asked === null ? null : { ...asked, blocks: edited.parts.at(-1) ?? asked.blocks };
  const room = leadRoom(lengths, headings + deliveredWords(edited.parts.flat()));
  const article = { outline, plan, finished: parts, faq };
  const lead = await orNull(
    writeLead(writer, { brief, article, words: lengths.lead, room, names: true, signal }),
  );
  const questions = faq === null ? null : { language, part: faq };
  const citing = sources.length === 0 ? null : { notes: sources, mode: 'links' as const, language };
  const document = assembleBody(outline, parts, questions, lead?.lead?.blocks, undefined, citing);
  const finished = draft.map((part, index) => withHeading({ ...part, blocks: edited.parts[index] ?? [] }));
  const opening = lead?.lead?.blocks;
  const first = opening === undefined ? [] : [{ id: LEAD_ID, planned: lengths.lead, blocks: opening }];
  return { outline, plan, parts, faq, edited, lead, draft: [...first, ...finished], document };
}
