import type { Citations } from '../../db/tables.ts';
import { dropDeadLinks } from '../../document/format/links.ts';
import { parseDocument } from '../../document/format/parse.ts';
import type { Block, DocumentJson } from '../../document/format/schema.ts';
import { collectTexts, mapTexts } from '../../document/format/walk.ts';
import { toPlainText, weighInline } from '../../document/inline/parse.ts';
import { MAX_DOCUMENT_MARKS } from '../../document/text/marks.ts';
import { ProviderError } from '../../providers/types.ts';
import type { Outline } from '../outline.ts';
import type { WrittenPart } from './brief.ts';
import { type CitedSource, cite, sourceList } from './citations.ts';
import { faqHeading } from './faq-headings.ts';
import { headingAbove } from './markdown/blocks.ts';
import { FAQ_ID } from './write-faq.ts';

/** Image blocks by the section that they stand behind. */
export type PlacedBlocks = ReadonlyMap<string | null, readonly Block[]>;

/** How references to notes are shown. */
export interface Citing {
  /** Where each note is from, by their numbers from 1. */
  readonly notes: readonly CitedSource[];
  readonly mode: Citations;
  readonly language: string;
}

/** The FAQ, and the language of its heading. */
export interface WrittenFaq {
  readonly language: string;
  readonly part: WrittenPart;
}

/**
 * Builds the body of an article (contract.md G43 and G83): the lead, each section below its heading of level 2 or 3, the
 * FAQ last, and before it the sources where they are listed (contract.md N25). It is valid and has no heading of level 1.
 * @param parts one for each section of the outline, in order; an empty one is left out with its heading
 * @param images blocks behind sections by their ids; null: behind the lead
 * @throws {ProviderError} `unusable` when the document is not valid, with a message for customers
 */
export function assembleBody(
  outline: Outline,
  parts: readonly WrittenPart[],
  faq: WrittenFaq | null,
  lead: readonly Block[] = [],
  images: PlacedBlocks = new Map(),
  citing: Citing | null = null,
): DocumentJson {
  if (parts.length !== outline.sections.length) {
    throw new RangeError(`${parts.length} parts for ${outline.sections.length} sections`);
  }
  const written = [...parts, ...(faq === null ? [] : [faq.part])].map(({ blocks }) => blocks);
  const cited = citing === null ? null : cite(written, citing.notes, citing.mode);
  const texts = cited?.parts ?? written;
  const sections = outline.sections.flatMap(({ id, heading, level }, index): Block[] => {
    const own = texts[index] ?? [];
    const text = own.length === 0 ? [] : [headingAbove(id, heading, level), ...own];
    return [...text, ...(images.get(id) ?? [])];
  });
  // The lead is made from the text: it cites nothing.
  const [opening = lead] = citing === null ? [] : cite([lead], [], 'none').parts;
  const blocks = [...opening, ...(images.get(null) ?? []), ...sections];
  if (cited !== null && citing?.mode === 'list') blocks.push(...sourceList(cited.sources, citing.language));
  if (faq !== null) {
    blocks.push(headingAbove(FAQ_ID, faqHeading(faq.language), 2), ...(texts[parts.length] ?? []));
  }
  const parsed = parseDocument(dropDeadLinks(withFewMarks({ version: 1, blocks })));
  if (parsed.ok) return parsed.document;
  const [issue] = parsed.issues;
  throw new ProviderError(
    'unusable',
    `The sections make no valid article: ${issue?.pointer ?? ''} ${issue?.message ?? ''}. Try again.`,
  );
}

/** Drops all Markdown when it exceeds the bound of a document. No real text does. */
function withFewMarks(document: DocumentJson): DocumentJson {
  let marks = 0;
  for (const { text, markdown } of collectTexts(document)) if (markdown) marks += weighInline(text).marks;
  if (marks <= MAX_DOCUMENT_MARKS) return document;
  const plain = mapTexts(document, ({ text, markdown }) => ({ text: markdown ? toPlainText(text) : text }));
  for (const block of plain.blocks) if ('format' in block) Reflect.deleteProperty(block, 'format');
  return plain;
}
