import { clockTimestamp } from '../../db/clock.ts';
import { conflict } from '../../errors.ts';
import { iso } from '../../fields.ts';
import { MAX_PRESETS, type PresetKind, type SummaryRow } from '../presets/kind.ts';

const toSummary = (row: SummaryRow<'brand_voices'>) => ({
  id: row.id,
  name: row.name,
  isDefault: row.is_default,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

export const VOICES: PresetKind<'brand_voices'> = {
  table: 'brand_voices',
  target: 'brand_voice',
  noun: 'brand voice',
  full: () =>
    conflict(`A workspace has at most ${MAX_PRESETS} brand voices; delete one first.`, 'brand_voice_limit'),
  summaryColumns: ['id', 'name', 'is_default', 'created_at', 'updated_at'],
  toSummary,
  toPreset: (row) => ({ ...toSummary(row), instructions: row.instructions }),
  toColumns: ({ instructions, isDefault }) => ({ instructions, is_default: isDefault }),
  toAudit: ({ isDefault }) => ({ isDefault }),
  builtIn: [],
  /** Takes the default from the voice that has it (contract.md G51). */
  beforeWrite: async (tx, workspaceId, { isDefault }) => {
    if (!isDefault) return;
    await tx
      .updateTable('brand_voices')
      .set({ is_default: false, updated_at: clockTimestamp })
      .where('workspace_id', '=', workspaceId)
      .where('is_default', '=', true)
      .execute();
  },
};
