import { z } from 'zod';
import { timestamp, trimmedText, uuid } from '../../fields.ts';
import { presetName } from '../presets/name.ts';

const instructions = trimmedText(1, 4_000).meta({
  description: 'How articles should sound: whom they address, words to use and to avoid, examples.',
});
const isDefault = z.boolean().meta({
  description:
    'True for the voice of generations that name none, in projects without a default. At most one voice of a workspace is the default: setting it here clears it elsewhere.',
});

const summaryFields = { id: uuid, name: z.string(), isDefault, createdAt: timestamp, updatedAt: timestamp };

export const brandVoiceSummarySchema = z.object(summaryFields).meta({ id: 'BrandVoiceSummary' });
export const brandVoiceSchema = z.object({ ...summaryFields, instructions }).meta({ id: 'BrandVoice' });

export type BrandVoiceSummary = z.infer<typeof brandVoiceSummarySchema>;
export type BrandVoice = z.infer<typeof brandVoiceSchema>;

export const createBrandVoiceBody = z.object({
  name: presetName,
  instructions,
  isDefault: isDefault.default(false),
});

export const updateBrandVoiceBody = z.object({
  name: presetName.optional(),
  instructions: instructions.optional(),
  isDefault: isDefault.optional(),
});
