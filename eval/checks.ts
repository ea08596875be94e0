import type { Block } from '../src/document/format/schema.ts';
import { countWords } from '../src/document/format/words.ts';
import type { GenerationConfig } from '../src/generation/config.ts';
import type { WrittenArticle } from './write-article.ts';

/** What can be said of an article without a model. */
export interface ArticleChecks {
  readonly words: number;
  readonly sections: number;
  /** Where the primary keyword stands, of title, one heading and the first paragraph; null without one. */
  readonly keyword: { readonly title: boolean; readonly heading: boolean; readonly opening: boolean } | null;
  readonly links: number;
  /** Blocks that are neither paragraphs nor headings, by type. */
  readonly forms: Readonly<Record<string, number>>;
}

const has = (text: string, keyword: string): boolean => text.toLowerCase().includes(keyword.toLowerCase());
const textOf = (block: Block | undefined): string =>
  block !== undefined && 'text' in block ? block.text : '';

/** Checks an article by what is countable in it. */
export function checkArticle({ outline, document }: WrittenArticle, config: GenerationConfig): ArticleChecks {
  const { blocks } = document;
  const { primaryKeyword: keyword } = config;
  const forms: Record<string, number> = {};
  for (const { type } of blocks) {
    if (type !== 'paragraph' && type !== 'heading') forms[type] = (forms[type] ?? 0) + 1;
  }
  const links = blocks.flatMap((block) => ('links' in block ? (block.links ?? []) : []));
  const headings = blocks.filter(({ type }) => type === 'heading');
  return {
    words: countWords(document),
    sections: outline.sections.length,
    keyword:
      keyword === undefined
        ? null
        : {
            title: has(outline.title, keyword),
            heading: headings.some((block) => has(textOf(block), keyword)),
            opening: has(textOf(blocks.find(({ type }) => type === 'paragraph')), keyword),
          },
    links: links.length,
    forms,
  };
}
