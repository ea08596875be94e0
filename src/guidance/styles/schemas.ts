import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../../db/tables.ts';
import { timestamp, trimmedText } from '../../fields.ts';

const FORMALITIES = ['formal', 'informal'] as const;
const MAX_INSTRUCTIONS = 2_000;
/** Styles of a project: those of languages that it no longer has count too. */
export const MAX_STYLES = 200;

export const styleSchema = z
  .object({
    language: z.string(),
    formality: z.enum(FORMALITIES).nullable(),
    instructions: z.string().nullable(),
    updatedAt: timestamp,
  })
  .meta({ id: 'TranslationStyle' });

export type StyleResponse = z.infer<typeof styleSchema>;

export const putStyleBody = z
  .object({
    formality: z
      .enum(FORMALITIES)
      .nullable()
      .default(null)
      .meta({ description: 'How readers are addressed; null leaves it to the engine.' }),
    instructions: trimmedText(1, MAX_INSTRUCTIONS)
      .nullable()
      .default(null)
      .meta({ description: 'Further instructions. Engines that take no instructions ignore it.' }),
  })
  .refine(({ formality, instructions }) => formality !== null || instructions !== null, {
    message: 'Send formality, instructions or both.',
  })
  .meta({
    anyOf: [
      { required: ['formality'], properties: { formality: { type: 'string' } } },
      { required: ['instructions'], properties: { instructions: { type: 'string' } } },
    ],
  });

export const styleColumns = [
  'language',
  'formality',
  'instructions',
  'updated_at',
] as const satisfies readonly (keyof Tables['translation_styles'])[];

type StyleRow = Pick<Selectable<Tables['translation_styles']>, (typeof styleColumns)[number]>;

export const toStyle = ({ updated_at, ...row }: StyleRow): StyleResponse => ({
  ...row,
  updatedAt: updated_at.toISOString(),
});
