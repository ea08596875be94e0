import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../../db/tables.ts';
import { languageTag, timestamp, trimmedText, uuid } from '../../fields.ts';
import { pageQuery } from '../../http/paging.ts';

/** Terms of a workspace. */
export const MAX_TERMS = 5_000;
/** Terms of one import. */
const MAX_IMPORTED = 1_000;
const MAX_TERM = 60;

/** What could pass for markup, or end a quotation or a line, where a model is told of a term. */
const UNFIT = /[<>"`“”„‟«»‹›「」『』\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

const shape = {
  type: 'string' as const,
  minLength: 1,
  maxLength: MAX_TERM,
  pattern: '^(?=.*\\S)[^<>"`“”„‟«»‹›「」『』\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$',
};
const term = trimmedText(1, MAX_TERM)
  .refine((text) => !UNFIT.test(text), 'Expected a term without tags, quotes and line breaks.')
  .transform((text) => text.replace(/\s+/g, ' '))
  .meta(shape);

const sourceLanguage = languageTag.meta({ description: 'The language that is translated from.' });
const targetLanguage = languageTag.nullable();
const FOR_ALL = 'Null for every language; such a term has no target.';
const source = term.meta({
  ...shape,
  description: 'One word or several, without tags, quotes and line breaks.',
});
const target = term.nullable().meta({ description: 'Its translation; null for a term that stays as it is.' });
const caseSensitive = z
  .boolean()
  .meta({ description: 'Whether upper and lower case matter, as with `US` and `us`.' });

export const termSchema = z
  .object({
    id: uuid,
    sourceLanguage: z.string(),
    targetLanguage: z.string().nullable().meta({ description: FOR_ALL }),
    source: z.string(),
    target: z.string().nullable().meta({ description: 'Null for a term that stays as it is.' }),
    caseSensitive: z.boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'GlossaryTerm' });

export type GlossaryTermResponse = z.infer<typeof termSchema>;

/** Refuses languages that no term can have. */
function checkLanguages(
  entry: { sourceLanguage: string; targetLanguage: string | null; target: string | null },
  context: z.RefinementCtx,
): void {
  if (entry.targetLanguage === null && entry.target !== null) {
    context.addIssue({
      code: 'custom',
      path: ['target'],
      message: 'Without targetLanguage a term has no target. Send targetLanguage, or no target.',
    });
  }
  if (entry.targetLanguage === entry.sourceLanguage) {
    context.addIssue({
      code: 'custom',
      path: ['targetLanguage'],
      message: 'Expected another language than the sourceLanguage.',
    });
  }
}

export const createTermBody = z
  .object({
    sourceLanguage,
    targetLanguage: targetLanguage.default(null).meta({ description: FOR_ALL }),
    source,
    target: target.default(null),
    caseSensitive: caseSensitive.default(false),
  })
  .superRefine(checkLanguages);

export type NewTerm = z.output<typeof createTermBody>;

export const updateTermBody = z
  .object({
    source: source.optional(),
    target: target.optional(),
    caseSensitive: caseSensitive.optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    message: 'Send source, target, caseSensitive or several of them.',
  })
  .meta({
    anyOf: [
      { required: ['source'], properties: { source: { type: 'string' } } },
      { required: ['target'] },
      { required: ['caseSensitive'], properties: { caseSensitive: { type: 'boolean' } } },
    ],
  });

export type TermChanges = z.output<typeof updateTermBody>;

export const importTermsBody = z.object({
  terms: z
    .array(createTermBody)
    .min(1, 'Expected at least one term.')
    .max(MAX_IMPORTED, `Expected at most ${MAX_IMPORTED} terms.`)
    .meta({ description: 'Each replaces the term of the same languages and words, or is added.' }),
});

export const importedSchema = z.object({
  created: z.int().min(0),
  updated: z.int().min(0),
  unchanged: z.int().min(0),
});

export type Imported = z.infer<typeof importedSchema>;

export const listTermsQuery = pageQuery.extend({
  sourceLanguage: languageTag.optional(),
  targetLanguage: languageTag
    .optional()
    .meta({ description: 'Only terms for this language, those for every language included.' }),
});

export const termColumns = [
  'id',
  'source_language',
  'target_language',
  'source_term',
  'target_term',
  'case_sensitive',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Tables['glossary_terms'])[];

type TermRow = Pick<Selectable<Tables['glossary_terms']>, (typeof termColumns)[number]>;

export const toTerm = (row: TermRow): GlossaryTermResponse => ({
  id: row.id,
  sourceLanguage: row.source_language,
  targetLanguage: row.target_language,
  source: row.source_term,
  target: row.target_term,
  caseSensitive: row.case_sensitive,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
