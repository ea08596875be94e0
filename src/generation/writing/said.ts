import type { Outline } from '../outline.ts';
import type { LinkableArticle, WritingBrief } from './brief.ts';
import { addressesIn } from './markdown/addresses.ts';

/** What the customer wrote, which an article may repeat. */
export interface Said {
  readonly said: string;
  /** The addresses in it, in the form they are compared in. */
  readonly addresses: ReadonlySet<string>;
}

/** All of the customer's own words: settings, voice, template, outline, titles of their articles. */
export function customersWords(
  { config, title, keywords, voice, template }: WritingBrief,
  outline: Outline | null = null,
  articles: readonly LinkableArticle[] = [],
): Said {
  const texts = [
    config.topic,
    config.prompt,
    config.primaryKeyword,
    ...config.secondaryKeywords,
    config.audience,
    config.tone,
    config.sourceUrl,
    title,
    ...keywords,
    voice,
    template,
    outline?.title,
    ...(outline?.sections ?? []).flatMap(({ heading, purpose, keywords }) => [heading, purpose, ...keywords]),
    ...articles.map(({ title }) => title),
  ].flatMap((text) => text ?? []);
  return { said: texts.join('\n'), addresses: addressesIn(texts) };
}
