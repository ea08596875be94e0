import { z } from 'zod';
import { MAX_META_DESCRIPTION, MAX_META_TITLE, MAX_SLUG, MAX_TITLE } from '../document/format/limits.ts';
import { countTextWords } from '../document/format/words.ts';
import { trimmedText } from '../fields.ts';
import { slugify } from '../slug.ts';

/** Outlines, with the bounds of contract.md G31. */

export const MAX_SECTIONS = 40;
const MAX_HEADING = 300;
const MAX_PURPOSE = 1_000;
const MAX_SECTION_KEYWORDS = 25;
const MAX_SECTION_KEYWORD = 120;
export const MIN_ESTIMATED_WORDS = 20;
export const MAX_ESTIMATED_WORDS = 5_000;
/** Fewest words per section, on average. */
const WORDS_PER_SECTION = 60;
/** Most words per section: models cut longer responses off. */
export const MAX_WORDS_PER_SECTION = 2_000;

/** Form of a slug, without its length. */
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** A model's slug if it is valid, else one derived from the title. */
export const slugOf = (slug: string, title: string): string =>
  SLUG.test(slug) && slug.length <= MAX_SLUG ? slug : slugify(title, 'article');

const estimatedWords = z
  .number('Expected a whole number.')
  .refine(
    (value) => Number.isInteger(value) && value >= MIN_ESTIMATED_WORDS && value <= MAX_ESTIMATED_WORDS,
    `Expected a whole number from ${MIN_ESTIMATED_WORDS} to ${MAX_ESTIMATED_WORDS}.`,
  )
  .meta({
    type: 'integer',
    minimum: MIN_ESTIMATED_WORDS,
    maximum: MAX_ESTIMATED_WORDS,
    description: "The section's share: all of them are scaled to the length of the article.",
  });

const section = z.object({
  id: trimmedText(1, 64).meta({ description: 'Used by one section of the outline only.' }),
  heading: trimmedText(1, MAX_HEADING),
  level: z.literal([2, 3], 'Expected 2 or 3.'),
  purpose: trimmedText(1, MAX_PURPOSE).meta({ description: 'What the section should say.' }),
  keywords: z
    .array(trimmedText(1, MAX_SECTION_KEYWORD))
    .max(MAX_SECTION_KEYWORDS, `Expected at most ${MAX_SECTION_KEYWORDS} keywords.`)
    .default([]),
  estimatedWords,
});

export const outlineSchema = z
  .object({
    title: trimmedText(1, MAX_TITLE),
    slug: z
      .string()
      .regex(SLUG, 'Expected lower-case letters and digits, separated by hyphens.')
      .max(MAX_SLUG, `Expected at most ${MAX_SLUG} characters.`)
      .meta({ examples: ['a-garden-in-spring'] }),
    metaTitle: trimmedText(1, MAX_META_TITLE),
    metaDescription: trimmedText(1, MAX_META_DESCRIPTION),
    sections: z
      .array(section)
      .min(1, 'Expected at least one section.')
      .max(MAX_SECTIONS, `Expected at most ${MAX_SECTIONS} sections.`)
      .superRefine((sections, context) => {
        const seen = new Set<string>();
        for (const [index, { id }] of sections.entries()) {
          if (seen.has(id)) {
            context.addIssue({
              code: 'custom',
              path: [index, 'id'],
              message: 'Expected an id that no other section has.',
            });
          }
          seen.add(id);
        }
      }),
  })
  .meta({ id: 'Outline' });

export type Outline = z.output<typeof outlineSchema>;
export type OutlineSection = Outline['sections'][number];

/** Number of sections that a model's outline may have; a person's has up to 40. */
export interface SectionBounds {
  /** One per started 2,000 words. */
  readonly least: number;
  /** One per started 60 words, up to 40. */
  readonly most: number;
}

/** Words of an outline's own texts. */
export const countOutlineWords = ({ title, metaTitle, metaDescription, sections }: Outline): number =>
  [
    title,
    metaTitle,
    metaDescription,
    ...sections.flatMap(({ heading, purpose, keywords }) => [heading, purpose, ...keywords]),
  ].reduce((sum, text) => sum + countTextWords(text), 0);

/** Bounds for a body of `words` words (at least 1). */
export const sectionBounds = (words: number): SectionBounds => ({
  least: Math.ceil(words / MAX_WORDS_PER_SECTION),
  most: Math.min(MAX_SECTIONS, Math.ceil(words / WORDS_PER_SECTION)),
});

/** The bounds in words: `1 to 20`. */
export const describeBounds = ({ least, most }: SectionBounds): string => `${least} to ${most}`;
