import { countWords } from '../src/document/format/words.ts';
import type { WritingBrief } from '../src/generation/writing/brief.ts';
import { checkDraft, type DraftChecks } from '../src/generation/writing/editing/check-draft.ts';
import { hasCitation } from '../src/generation/writing/editing/cited-blocks.ts';
import { draftSources } from '../src/generation/writing/editing/sources.ts';
import type { WrittenArticle } from './write-article.ts';

/** What can be said of an article without a model: the checks of a run's report, and what is countable in its document. */
export interface ArticleChecks extends DraftChecks {
  readonly words: number;
  readonly sections: number;
  readonly edits: number;
  readonly links: number;
  /** Blocks with a citation. */
  readonly cited: number;
  /** Blocks that are neither paragraphs nor headings, by type. */
  readonly forms: Readonly<Record<string, number>>;
}

/** Checks an article by its text and its document. */
export function checkArticle(
  { outline, document, draft, edited }: WrittenArticle,
  brief: WritingBrief,
): ArticleChecks {
  const forms: Record<string, number> = {};
  for (const { type } of document.blocks) {
    if (type !== 'paragraph' && type !== 'heading') forms[type] = (forms[type] ?? 0) + 1;
  }
  const links = document.blocks.flatMap((block) => ('links' in block ? (block.links ?? []) : []));
  return {
    ...checkDraft(draft, draftSources(brief, null)),
    words: countWords(document),
    sections: outline.sections.length,
    edits: edited.applied.length,
    links: links.length,
    cited: draft.flatMap(({ blocks }) => blocks).filter((block) => hasCitation(block)).length,
    forms,
  };
}
