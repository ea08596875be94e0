/** Checks of an article that need no model. */
import type { Block } from '../../../document/format/schema.ts';
import { deliveredWords } from '../../delivered.ts';
import { headingAbove } from '../markdown/blocks.ts';
import { type Figure, figuresIn, unsupportedFigures } from './figures.ts';
import { findSameHeadings, type SameHeading } from './headings.ts';
import { type KeywordUse, keywordUse } from './keyword.ts';
import { findNearCopies, type NearCopy } from './near-copies.ts';

/** A part of a draft: the lead, a section below its heading, or the questions. */
export interface DraftPart {
  /** The id of a section; ` lead` and ` faq` for the others. */
  readonly id: string;
  /** Words planned for it. */
  readonly planned: number;
  readonly blocks: readonly Block[];
}

/** A part with its heading above it, as it stands in the article. */
export const withHeading = ({
  id,
  heading,
  planned,
  blocks,
}: DraftPart & { heading: string }): DraftPart => ({
  id,
  planned,
  blocks: [headingAbove(id, heading, 2), ...blocks],
});

/** What a draft is checked against. */
export interface DraftSources {
  readonly language: string;
  /** The keyword that title, lead and one heading should have; null without one. */
  readonly keyword: string | null;
  /** Everything that the customer wrote, and the outline. */
  readonly texts: readonly string[];
}

/** What the checks found. */
export interface DraftChecks {
  readonly nearCopies: readonly NearCopy[];
  readonly sameHeadings: readonly SameHeading[];
  /** Null without a keyword. */
  readonly keyword: KeywordUse | null;
  readonly figures: readonly Figure[];
  readonly lengths: readonly {
    readonly id: string;
    readonly planned: number | null;
    readonly words: number;
  }[];
}

/** Checks a draft (contract.md G71). Linear in its words; each list has at most 40 entries, but one length for each part. */
export function checkDraft(parts: readonly DraftPart[], sources: DraftSources): DraftChecks {
  const { language, keyword } = sources;
  const blocks = parts.flatMap((part) => part.blocks);
  return {
    nearCopies: findNearCopies(parts.map((part) => part.blocks)),
    sameHeadings: findSameHeadings(blocks, language),
    keyword: keyword === null ? null : keywordUse(blocks, { keyword, language }),
    figures: unsupportedFigures(blocks, figuresIn(sources.texts)),
    lengths: parts.map((part) => ({
      id: part.id,
      planned: part.planned,
      words: deliveredWords(part.blocks),
    })),
  };
}
