import { z } from 'zod';
import { ARTICLE_STATUSES } from '../db/tables.ts';
import {
  MAX_KEYWORD,
  MAX_KEYWORDS,
  MAX_META_DESCRIPTION,
  MAX_META_TITLE,
  MAX_SLUG,
  MAX_TITLE,
} from '../document/format/limits.ts';
import { idOf, languageTag, trimmedText, webAddress } from '../fields.ts';
import { pageQuery } from '../http/paging.ts';
import type { CategoryId, ProjectId } from '../ids.ts';
import { documentField } from './document-field.ts';

const slug = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'Expected lower-case letters and digits, separated by hyphens.')
  .max(MAX_SLUG, `Expected at most ${MAX_SLUG} characters.`)
  .meta({ examples: ['a-garden-in-spring'] });
const keywords = z
  .array(trimmedText(1, MAX_KEYWORD))
  .max(MAX_KEYWORDS, `Expected at most ${MAX_KEYWORDS} keywords.`);
const metaTitle = trimmedText(1, MAX_META_TITLE).nullable();
const metaDescription = trimmedText(1, MAX_META_DESCRIPTION).nullable();

export const createArticleBody = z.object({
  title: trimmedText(1, MAX_TITLE),
  primaryLanguage: languageTag
    .optional()
    .meta({ description: "One of the project's languages; its primary language when omitted." }),
  slug: slug.optional().meta({ description: 'Derived from the title when omitted.' }),
  documentJson: documentField.optional(),
  metaTitle: metaTitle.optional(),
  metaDescription: metaDescription.optional(),
  targetKeywords: keywords.optional(),
  secondaryKeywords: keywords.optional(),
});

export const updateArticleBody = z.object({
  title: trimmedText(1, MAX_TITLE).optional(),
  slug: slug.optional().meta({
    description: 'When omitted, a slug derived from the old title follows the new one.',
  }),
  documentJson: documentField.optional(),
  metaTitle: metaTitle.optional().meta({ description: 'null clears it.' }),
  metaDescription: metaDescription.optional().meta({ description: 'null clears it.' }),
  targetKeywords: keywords.optional(),
  secondaryKeywords: keywords.optional(),
});

export const duplicateArticleBody = z.object({
  title: trimmedText(1, MAX_TITLE).optional().meta({ description: "The original's title when omitted." }),
});

export const publishArticleBody = z.object({
  publishedUrl: webAddress.optional().meta({
    description:
      'Where the article is shown, as the integration that publishes it reports. When omitted, the one reported before stays.',
  }),
});

export const listArticlesQuery = pageQuery.extend({
  projectId: idOf<ProjectId>().optional(),
  status: z.enum(ARTICLE_STATUSES).optional(),
  language: languageTag.optional(),
  categoryId: idOf<CategoryId>().optional(),
});

export const bySlugQuery = z.object({ language: languageTag, slug: z.string().min(1).max(MAX_SLUG) });
