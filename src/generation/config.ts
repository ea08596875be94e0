import { z } from 'zod';
import { IMAGE_STYLES } from '../db/tables.ts';
import { languageTag, trimmedText, uuid } from '../fields.ts';

/** The settings of a generation, with the defaults and bounds of the contract (contract.md G30). */

export const MIN_WORDS = 200;
export const MAX_WORDS = 10_000;
export const MAX_IMAGES = 20;
const MAX_SECONDARY_KEYWORDS = 25;
const MAX_URI = 2_048;

const whole = (min: number, max: number) =>
  z
    .number('Expected a whole number.')
    .refine(
      (value) => Number.isInteger(value) && value >= min && value <= max,
      `Expected a whole number from ${min} to ${max}.`,
    )
    .meta({ type: 'integer', minimum: min, maximum: max });

export const generationConfigSchema = z
  .object({
    topic: trimmedText(1, 500).meta({ description: 'What the article is about.' }),
    prompt: trimmedText(0, 5_000).optional().meta({ description: 'Further instructions.' }),
    primaryKeyword: trimmedText(0, 200)
      .optional()
      .meta({ description: "Not copied into the article's targetKeywords." }),
    secondaryKeywords: z
      .array(trimmedText(1, 200))
      .max(MAX_SECONDARY_KEYWORDS, `Expected at most ${MAX_SECONDARY_KEYWORDS} keywords.`)
      .default([]),
    audience: trimmedText(0, 500).optional(),
    tone: trimmedText(0, 200).optional(),
    language: languageTag.default('en').meta({
      description:
        "The language that the text is written in. It does not change the article's primaryLanguage.",
    }),
    wordCount: whole(MIN_WORDS, MAX_WORDS).default(1_200),
    imageStyle: z.enum(IMAGE_STYLES).default('editorial'),
    imageCount: whole(0, MAX_IMAGES).nullable().default(null).meta({
      description:
        'Cover included. null takes 2 under 1,000 words, 3 under 2,000, 4 under 3,000, otherwise 5.',
    }),
    writingQuality: z.enum(['standard', 'premium']).default('premium'),
    imageQuality: z.enum(['standard', 'hd']).default('standard'),
    brandVoiceId: uuid.optional().meta({
      description:
        "An absent or unknown one falls back to the project's default voice, then the workspace's, then none.",
    }),
    contentTemplateId: uuid
      .optional()
      .meta({ description: 'A template that is neither built in nor in the workspace is ignored.' }),
    sourceUrl: z
      .string()
      .max(MAX_URI, `Expected at most ${MAX_URI} characters.`)
      .refine((text) => URL.canParse(text) && !/[\s\p{Cc}]/u.test(text), 'Expected a URI.')
      .meta({ format: 'uri', description: 'Stored, but not used.' })
      .optional(),
    researchEnabled: z.boolean().default(false).meta({
      description:
        'Reads the web before the outline and checks claims of the finished text, if the service is configured for it.',
    }),
    reviewOutline: z
      .boolean()
      .default(false)
      .meta({ description: 'Ends the run after the outline, which can then be read, edited and approved.' }),
    faq: z
      .boolean()
      .default(false)
      .meta({ description: 'Ends the article with 3 to 5 questions, whose words come out of wordCount.' }),
  })
  .meta({ id: 'GenerationConfig' });

/** Stored settings: defaults are filled in, other omitted fields are absent. */
export type GenerationConfig = z.output<typeof generationConfigSchema>;

/** Most words of wordCount that a FAQ section takes. */
const FAQ_WORDS = 250;
/** The shortest body planned with a FAQ. */
const MIN_BODY_WORDS = 100;

/** A lead has a tenth of the body, at most so many words; below the fewest there is none. */
const LEAD_SHARE = 0.1;
const MAX_LEAD_WORDS = 150;
const MIN_LEAD_WORDS = 40;

/** Words of the lead that stands before the first section; 0 for an article too short to have one. */
export function leadWords(config: Pick<GenerationConfig, 'wordCount' | 'faq'>): number {
  const words = Math.min(MAX_LEAD_WORDS, Math.floor(bodyWords(config) * LEAD_SHARE));
  return words < MIN_LEAD_WORDS ? 0 : words;
}

/** Words of the sections, which the outline is planned for. */
export const bodyWords = ({ wordCount, faq }: Pick<GenerationConfig, 'wordCount' | 'faq'>): number =>
  faq ? Math.max(MIN_BODY_WORDS, wordCount - FAQ_WORDS) : wordCount;

/** Words of the questions at the end. */
export const faqWords = ({ wordCount, faq }: Pick<GenerationConfig, 'wordCount' | 'faq'>): number =>
  faq ? wordCount - bodyWords({ wordCount, faq }) : 0;
