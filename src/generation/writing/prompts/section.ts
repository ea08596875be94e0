import type { OutlineSection } from '../../outline.ts';
import { textTokens } from '../output-tokens.ts';
import { type Asking, MARKDOWN_ALONE, type Prompt } from './shared.ts';

export interface SectionQuestion extends Asking<'section'> {
  readonly section: OutlineSection;
  /** Its place in the article, counted from 1. */
  readonly number: number;
  /** Words it should have, without its heading. */
  readonly words: number;
  /** Titles of the articles it may link to, named by their position, counted from 1. */
  readonly articles: readonly string[];
}

export const sectionPrompt: Prompt<SectionQuestion> = {
  version: 2,
  schema: null,
  tokens: ({ words, brief }) => textTokens(words, brief.config.language),
  data: ({ section, words, articles }) => ({
    section: { heading: section.heading, purpose: section.purpose, keywords: section.keywords },
    headingLevel: section.level + 1,
    words,
    articles: articles.map((name, index) => ({ number: index + 1, title: name })),
  }),
  task: ({ words }) => [
    `Write \`section\` of the article, of about ${words} words. Its heading stands above it already: do not repeat it.`,
    'Write mostly paragraphs, and where they help the reader a list, a table, code, or headings of level `headingLevel`. Begin with a paragraph and end with a whole sentence.',
    'Continue from what was written before it. Repeat nothing of it, and write nothing that belongs to another section.',
    'Where it helps the reader, link a few words of a paragraph to one of the listed articles by its number, as in [words](article:3), each article once. Write no other links.',
    MARKDOWN_ALONE,
  ],
};
