import { z } from 'zod';
import { languageTag } from '../fields.ts';
import { MAX_SUGGESTIONS } from './model-questions.ts';
import { MAX_NAME, MAX_REASON } from './responses.ts';

/** contract.md S5. */
const MAX_LANGUAGES = 10;

const name = z.string().meta({ minLength: 1, maxLength: MAX_NAME });
const reason = z.string().meta({ maxLength: MAX_REASON, description: 'Why it is suggested.' });
const credits = z.int().meta({ description: 'What was charged: 0 when nothing came back.' });
const proposed = z.array(z.object({ name, reason })).max(MAX_SUGGESTIONS);

export const articleSuggestionsResponse = z.object({
  existing: z
    .array(z.object({ category: z.object({ id: z.uuid(), name }), reason }))
    .max(MAX_SUGGESTIONS)
    .meta({ description: 'Categories of the workspace that the article does not carry yet.' }),
  proposed: proposed.meta({ description: "New names in the article's language, only if none fits." }),
  credits,
});

export const projectSuggestionsResponse = z.object({
  categories: proposed.meta({ description: "New names in the project's language." }),
  credits,
});

export const translateNamesBody = z.object({
  languages: z
    .array(languageTag)
    .min(1, 'Expected 1 to 10 languages.')
    .max(MAX_LANGUAGES, 'Expected 1 to 10 languages.')
    .superRefine((tags, context) => {
      for (const [index, tag] of tags.entries()) {
        if (tags.indexOf(tag) === index) continue;
        context.addIssue({ code: 'custom', path: [index], message: `${tag} is listed twice.` });
      }
    })
    .meta({ description: "Each once; not the category's primary language.", uniqueItems: true }),
});

export const translateNamesResponse = z.object({
  names: z
    .array(z.object({ language: z.string(), name }))
    .meta({ description: 'In the requested order; languages without a usable name are left out.' }),
  credits,
});
