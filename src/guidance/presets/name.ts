import { trimmedText } from '../../fields.ts';

export const presetName = trimmedText(1, 120).meta({
  description: 'Unique among those of the workspace, ignoring case.',
});
