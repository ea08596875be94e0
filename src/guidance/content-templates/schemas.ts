import { z } from 'zod';
import { timestamp, trimmedText, uuid } from '../../fields.ts';
import { presetName } from '../presets/name.ts';

const text = trimmedText(1, 8_000).meta({
  description: 'How articles of this kind are built: their parts, the order, the purpose of each.',
});
const time = timestamp.nullable().meta({ description: 'Null for a built-in one.' });

const summaryFields = {
  id: uuid,
  name: z.string(),
  builtIn: z.boolean().meta({
    description: 'Built-in templates are the same in every workspace and can be neither edited nor deleted.',
  }),
  createdAt: time,
  updatedAt: time,
};

export const contentTemplateSummarySchema = z.object(summaryFields).meta({ id: 'ContentTemplateSummary' });
export const contentTemplateSchema = z.object({ ...summaryFields, text }).meta({ id: 'ContentTemplate' });

export type ContentTemplateSummary = z.infer<typeof contentTemplateSummarySchema>;
export type ContentTemplate = z.infer<typeof contentTemplateSchema>;

export const createContentTemplateBody = z.object({ name: presetName, text });

export const updateContentTemplateBody = z.object({ name: presetName.optional(), text: text.optional() });
