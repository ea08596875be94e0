import { conflict } from '../../errors.ts';
import { iso } from '../../fields.ts';
import { MAX_PRESETS, type PresetKind, type SummaryRow } from '../presets/kind.ts';
import { BUILT_IN_TEMPLATES } from './built-in.ts';

const toSummary = (row: SummaryRow<'content_templates'>) => ({
  id: row.id,
  name: row.name,
  builtIn: false,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

export const TEMPLATES: PresetKind<'content_templates'> = {
  table: 'content_templates',
  target: 'content_template',
  noun: 'content template',
  full: () =>
    conflict(
      `A workspace has at most ${MAX_PRESETS} content templates; delete one first.`,
      'content_template_limit',
    ),
  summaryColumns: ['id', 'name', 'created_at', 'updated_at'],
  toSummary,
  toPreset: (row) => ({ ...toSummary(row), text: row.text }),
  toColumns: ({ text }) => ({ text }),
  toAudit: () => ({}),
  builtIn: BUILT_IN_TEMPLATES.map(({ id, name, text }) => {
    const summary = { id, name, builtIn: true, createdAt: null, updatedAt: null };
    return { summary, one: { ...summary, text } };
  }),
  beforeWrite: async () => {},
};
