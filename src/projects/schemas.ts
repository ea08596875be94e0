import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../db/tables.ts';
import { languageTag, timestamp, trimmedText, uuid } from '../fields.ts';
import { pageQuery } from '../http/paging.ts';
import { addressTemplate } from './addresses.ts';

/** Languages a project may have. */
export const MAX_PROJECT_LANGUAGES = 100;

export const projectSchema = z
  .object({
    id: uuid,
    workspaceId: uuid,
    name: z.string(),
    languages: z.array(z.string()).meta({ description: 'Language tags, in the order given.' }),
    primaryLanguage: z.string().meta({ description: 'One of languages.' }),
    addressTemplate: addressTemplate.nullable(),
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

export const updateProjectBody = z.object({
  name: trimmedText(1, 200).optional(),
  languages: languages.optional().meta({ description: 'Replaces the whole list.' }),
  primaryLanguage: languageTag.optional(),
  addressTemplate: addressTemplate.nullable().optional().meta({ description: 'null clears it.' }),
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
  archivedAt: row.archived_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
