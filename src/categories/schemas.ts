import { z } from 'zod';
import { idOf, languageTag, timestamp, trimmedText, uuid } from '../fields.ts';
import type { CategoryId } from '../ids.ts';

/** contract.md C2. */
const MAX_NAMES = 20;
const MAX_ASSIGNED = 50;

const slug = z.string().meta({
  description:
    "URL-safe form of the name, unique among the workspace's categories in that language; `category` when the name has no Latin letter or digit.",
});

/** contract.md C1. */
const categoryNameSchema = z
  .object({
    id: uuid,
    categoryId: uuid,
    workspaceId: uuid,
    language: z.string(),
    name: z.string(),
    slug,
    createdAt: timestamp.meta({ description: 'When the name was added.' }),
    updatedAt: timestamp.meta({ description: 'When the name was last renamed.' }),
  })
  .meta({ id: 'CategoryName' });

const categoryFields = {
  id: uuid,
  workspaceId: uuid,
  primaryLanguage: z.string().meta({ description: 'The category always has a name in this language.' }),
  createdAt: timestamp,
  updatedAt: timestamp.meta({ description: 'When the primary language or a name last changed.' }),
  translations: z.array(categoryNameSchema).meta({ description: 'Sorted by language tag.' }),
};

/** contract.md C1. */
export const categorySchema = z.object(categoryFields).meta({ id: 'Category' });
export type Category = z.infer<typeof categorySchema>;

/** A category as the list shows it. */
export const listedCategorySchema = z
  .object({
    ...categoryFields,
    articleCount: z
      .int()
      .min(0)
      .meta({ description: 'Articles carrying the category, in every status and language.' }),
  })
  .meta({ id: 'ListedCategory' });

/** A category as an assignment returns it. */
export const reducedCategorySchema = z
  .object({
    id: uuid,
    primaryLanguage: z.string(),
    translations: z.array(z.object({ language: z.string(), name: z.string(), slug })),
  })
  .meta({ id: 'ReducedCategory' });
export type ReducedCategory = z.infer<typeof reducedCategorySchema>;

const newName = z.object({ language: languageTag, name: trimmedText(1, 80) });
type NewNames = readonly z.output<typeof newName>[];

/** Refuses every entry whose language an earlier entry has. */
function refuseRepeatedLanguages(names: NewNames, context: z.RefinementCtx): void {
  const seen = new Set<string>();
  for (const [index, { language }] of names.entries()) {
    if (seen.has(language)) {
      context.addIssue({
        code: 'custom',
        path: ['translations', index, 'language'],
        message: `There is already a name in ${language}.`,
      });
    }
    seen.add(language);
  }
}

export const createCategoryBody = z
  .object({
    primaryLanguage: languageTag,
    translations: z
      .array(newName)
      .min(1)
      .max(MAX_NAMES)
      .meta({ description: 'One per language; one of them in primaryLanguage.' }),
  })
  .superRefine(({ primaryLanguage, translations }, context) => {
    refuseRepeatedLanguages(translations, context);
    if (translations.length === 0) return;
    if (translations.some(({ language }) => language === primaryLanguage)) return;
    context.addIssue({
      code: 'custom',
      path: ['translations'],
      message: `Expected a name in the primary language ${primaryLanguage}.`,
    });
  });

export const updateCategoryBody = z
  .object({
    primaryLanguage: languageTag.optional(),
    translations: z
      .array(newName)
      .max(MAX_NAMES)
      .meta({ description: 'One per language: added where the category has no name, else renamed.' })
      .optional(),
    removeLanguages: z
      .array(languageTag)
      .max(MAX_NAMES)
      .meta({ description: 'Languages in which the category has no name are ignored.' })
      .optional(),
  })
  .superRefine(({ primaryLanguage, translations, removeLanguages }, context) => {
    if (primaryLanguage === undefined && translations === undefined && removeLanguages === undefined) {
      context.addIssue({
        code: 'custom',
        message: 'Send at least one of primaryLanguage, translations and removeLanguages.',
      });
    }
    refuseRepeatedLanguages(translations ?? [], context);
    for (const [index, { language }] of (translations ?? []).entries()) {
      if (!removeLanguages?.includes(language)) continue;
      context.addIssue({
        code: 'custom',
        path: ['translations', index, 'language'],
        message: `${language} cannot be both named and removed.`,
      });
    }
  })
  .meta({
    anyOf: [
      { required: ['primaryLanguage'], properties: { primaryLanguage: { type: 'string' } } },
      { required: ['translations'], properties: { translations: { type: 'array' } } },
      { required: ['removeLanguages'], properties: { removeLanguages: { type: 'array' } } },
    ],
  });

export const setCategoriesBody = z.object({
  categoryIds: z.array(idOf<CategoryId>()).max(MAX_ASSIGNED).meta({
    description: 'Replaces the whole set, in this order. A repeated id counts once; `[]` removes all.',
  }),
});
