import type { Selectable } from 'kysely';
import { z } from 'zod';
import { CITATIONS, IMAGE_STYLES, type Tables } from '../db/tables.ts';
import { idOf, languageTag, timestamp, trimmedText, uuid } from '../fields.ts';
import { pageQuery } from '../http/paging.ts';
import type { BrandVoiceId } from '../ids.ts';
import { addressTemplate } from './addresses.ts';

/** Languages a project may have. */
export const MAX_PROJECT_LANGUAGES = 100;

const imageStyle = z.enum(IMAGE_STYLES).nullable();

const citations = z.enum(CITATIONS);
const CITATIONS_MEANING =
  'How generated articles show their sources: `links`, numbers that lead to them; `list`, numbers, and the sources below a heading at the end; `none`.';

const defaultBrandVoiceId = idOf<BrandVoiceId>()
  .nullable()
  .meta({ description: 'The voice of generations that name none. Without it, that of the workspace.' });

export const projectSchema = z
  .object({
    id: uuid,
    workspaceId: uuid,
    name: z.string(),
    languages: z.array(z.string()).meta({ description: 'Language tags, in the order given.' }),
    primaryLanguage: z.string().meta({ description: 'One of languages.' }),
    addressTemplate: addressTemplate.nullable(),
    imageSettings: z
      .object({ hero: z.object({ style: imageStyle }), inline: z.object({ style: imageStyle }) })
      .meta({
        description:
          "Styles that go before a generation's imageStyle, of the cover and of the images in the text.",
      }),
    citations: citations.meta({ description: CITATIONS_MEANING }),
    defaultBrandVoiceId,
    archivedAt: timestamp
      .nullable()
      .meta({ description: 'Null for an active project. Archiving leaves its articles as they are.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Project' });

export type Project = z.infer<typeof projectSchema>;

const languages = z
  .array(languageTag)
  .min(1, 'Expected at least one language.')
  .max(MAX_PROJECT_LANGUAGES, `Expected at most ${MAX_PROJECT_LANGUAGES} languages.`);

export const createProjectBody = z.object({
  name: trimmedText(1, 200),
  languages,
  primaryLanguage: languageTag.meta({ description: 'One of languages.' }),
  addressTemplate: addressTemplate.optional(),
});

const imageStyleChange = z.object({ style: imageStyle.optional() }).optional();

export const updateProjectBody = z.object({
  name: trimmedText(1, 200).optional(),
  languages: languages.optional().meta({ description: 'Replaces the whole list.' }),
  primaryLanguage: languageTag.optional(),
  addressTemplate: addressTemplate.nullable().optional().meta({ description: 'null clears it.' }),
  imageSettings: z
    .object({ hero: imageStyleChange, inline: imageStyleChange })
    .optional()
    .meta({ description: 'Changes the styles that are given; null clears one.' }),
  defaultBrandVoiceId: defaultBrandVoiceId.optional().meta({
    description: "A voice of the workspace. null clears it: the workspace's default applies.",
  }),
  citations: citations.optional().meta({ description: CITATIONS_MEANING }),
  archived: z.boolean().optional().meta({ description: 'Its articles stay as they are, published or not.' }),
});

export const listProjectsQuery = pageQuery.extend({
  archived: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Only archived projects, or only active ones.' }),
});

export const projectColumns = [
  'id',
  'workspace_id',
  'name',
  'languages',
  'primary_language',
  'address_template',
  'hero_image_style',
  'inline_image_style',
  'citations',
  'default_brand_voice_id',
  'archived_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Tables['projects'])[];

export type ProjectRow = Pick<Selectable<Tables['projects']>, (typeof projectColumns)[number]>;

/** The wire form of a project's row. */
export const toProject = (row: ProjectRow): Project => ({
  id: row.id,
  workspaceId: row.workspace_id,
  name: row.name,
  languages: row.languages,
  primaryLanguage: row.primary_language,
  addressTemplate: row.address_template,
  imageSettings: { hero: { style: row.hero_image_style }, inline: { style: row.inline_image_style } },
  citations: row.citations,
  defaultBrandVoiceId: row.default_brand_voice_id,
  archivedAt: row.archived_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
