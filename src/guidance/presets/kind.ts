import type { Selectable } from 'kysely';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { ServiceError } from '../../errors.ts';
import type { WorkspaceId } from '../../ids.ts';
import type { BrandVoice, BrandVoiceSummary } from '../brand-voices/schemas.ts';
import type { ContentTemplate, ContentTemplateSummary } from '../content-templates/schemas.ts';

export const MAX_PRESETS = 100;

/** The wire forms by table. */
interface Presets {
  brand_voices: { one: BrandVoice; summary: BrandVoiceSummary };
  content_templates: { one: ContentTemplate; summary: ContentTemplateSummary };
}
export type PresetTable = keyof Presets;
export type Preset<Table extends PresetTable> = Presets[Table]['one'];
export type PresetSummary<Table extends PresetTable> = Presets[Table]['summary'];
/** What a request sets. */
export type PresetSettings<Table extends PresetTable> = Omit<
  Preset<Table>,
  'id' | 'builtIn' | 'createdAt' | 'updatedAt'
>;
export type PresetChanges<Table extends PresetTable> = {
  readonly [Key in keyof PresetSettings<Table>]?: PresetSettings<Table>[Key] | undefined;
};

export type PresetRow<Table extends PresetTable> = Selectable<Tables[Table]>;
/** What lists read: all but the text. */
export type SummaryRow<Table extends PresetTable> = Omit<
  PresetRow<Table>,
  'workspace_id' | 'name_key' | 'instructions' | 'text'
>;

/**
 * A kind of preset. A preset is a text that generations go by, under a name of its own in its workspace: a brand voice or
 * a content template. The verbs beside this file serve both kinds.
 */
export interface PresetKind<Table extends PresetTable> {
  readonly table: Table;
  /** As audit entries call one. */
  readonly target: string;
  /** As messages call one. */
  readonly noun: string;
  /** The refusal of one more than `MAX_PRESETS`. */
  readonly full: () => ServiceError;
  readonly summaryColumns: readonly (keyof SummaryRow<Table> & string)[];
  readonly toSummary: (row: SummaryRow<Table>) => PresetSummary<Table>;
  readonly toPreset: (row: PresetRow<Table>) => Preset<Table>;
  /** The columns of the settings besides that of the name. */
  readonly toColumns: (settings: PresetSettings<Table>) => Readonly<Record<string, unknown>>;
  /** What audit entries say besides the name. None quotes the text. */
  readonly toAudit: (settings: PresetSettings<Table>) => Readonly<Record<string, unknown>>;
  /** Presets that every workspace has and cannot change. They are listed first, and their names are taken. */
  readonly builtIn: readonly { readonly summary: PresetSummary<Table>; readonly one: Preset<Table> }[];
  /** What else a write changes. The workspace is locked. */
  readonly beforeWrite: (tx: Tx, workspaceId: WorkspaceId, settings: PresetSettings<Table>) => Promise<void>;
}
