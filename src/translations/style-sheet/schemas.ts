import { z } from 'zod';
import {
  isTerm,
  MAX_TERM_CHARACTERS,
  MAX_TERMS,
  SHEET_VALUES,
} from '../../document/translation/style-sheet.ts';
import { timestamp, trimmedText } from '../../fields.ts';

const USUAL = 'Null means the usual form in the language.';

const decisions = {
  address: z.enum(SHEET_VALUES.address).nullable().meta({
    description:
      "How readers are addressed: one of the first three, or a form of the version's language. A project's formality wins over it; null is formal.",
  }),
  gender: z
    .enum(SHEET_VALUES.gender)
    .nullable()
    .meta({ description: `Words for readers and persons of unknown gender. ${USUAL}` }),
  quotes: z
    .enum(SHEET_VALUES.quotes)
    .nullable()
    .meta({ description: `Quotation marks. ${USUAL}` }),
  numbers: z
    .enum(SHEET_VALUES.numbers)
    .nullable()
    .meta({ description: `Thousands and decimals. ${USUAL}` }),
  dates: z
    .enum(SHEET_VALUES.dates)
    .nullable()
    .meta({ description: `Dates in figures. ${USUAL}` }),
  titleCase: z
    .enum(SHEET_VALUES.titleCase)
    .nullable()
    .meta({ description: `Capitals of titles and headings. ${USUAL}` }),
  variant: z
    .enum(SHEET_VALUES.variant)
    .nullable()
    .meta({ description: `The variety of the language, where the version's tag leaves it open. ${USUAL}` }),
};

const term = trimmedText(1, MAX_TERM_CHARACTERS)
  .refine(isTerm, 'Expected words without tags, quotes and line breaks.')
  .meta({
    type: 'string',
    minLength: 1,
    maxLength: MAX_TERM_CHARACTERS,
    pattern: '^[^<>"`“”„‟«»‹›「」『』〝〞\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$',
  });

export const styleSheetSchema = z
  .object({
    language: z.string(),
    ...decisions,
    terms: z.array(z.object({ source: z.string(), target: z.string() })),
    updatedAt: timestamp,
  })
  .meta({ id: 'StyleSheet' });

export type StyleSheetResponse = z.infer<typeof styleSheetSchema>;

export const updateSheetBody = z.object({
  address: decisions.address.optional(),
  gender: decisions.gender.optional(),
  quotes: decisions.quotes.optional(),
  numbers: decisions.numbers.optional(),
  dates: decisions.dates.optional(),
  titleCase: decisions.titleCase.optional(),
  variant: decisions.variant.optional(),
  terms: z
    .array(z.object({ source: term, target: term }))
    .max(MAX_TERMS, `Expected at most ${MAX_TERMS} terms.`)
    .optional()
    .meta({ description: 'All terms: they replace those that are there.' }),
});

export type SheetChanges = z.output<typeof updateSheetBody>;
