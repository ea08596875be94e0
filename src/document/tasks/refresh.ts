/** Tasks of a refresh and its proposals on whole versions. Texts that come in are JSON. */
import type { AssetId } from '../../ids.ts';
import { applyRefresh } from '../refresh/apply.ts';
import {
  type DecidedUnits,
  decide as decideUnits,
  markCurrent as markUnits,
  currentValues as valuesOf,
} from '../refresh/decide.ts';
import { segmentsToSend } from '../refresh/plan.ts';
import { type ListedUnit, unitNames, listUnits as unitsListed } from '../refresh/states.ts';
import type {
  Decision,
  Proposal,
  Provenance,
  RefreshPlan,
  RefreshResult,
  UnitKey,
  UnitSources,
  UnitValue,
  Writer,
} from '../refresh/types.ts';
import { fieldsAmong, withWriters } from '../refresh/units.ts';
import { weigh } from '../refresh/weigh.ts';
import { orUnwritable, type Unwritable } from '../translation/reassemble.ts';
import { fieldKey } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { read, readProvenance, unknownAmong } from './plan.ts';
import { type RenderedDocument, toStore } from './stored.ts';

/** Changes of what is kept about a version's translation. JSON text: for a large table it is too long to parse on the event loop. */
export interface Decided {
  /** A `Provenance`. */
  readonly provenance: string;
  /** `UnitSources` to add. */
  readonly sources: string;
  /** Units whose source goes. */
  readonly withoutSource: readonly UnitKey[];
}

/** A change as it is stored. */
export const toDecided = ({
  provenance,
  sources,
}: Pick<RefreshResult, 'provenance' | 'sources'>): Decided => ({
  provenance: JSON.stringify(provenance),
  sources: JSON.stringify(Object.fromEntries(sources.filter(([, source]) => source !== null))),
  withoutSource: sources.flatMap(([key, source]) => (source === null ? key : [])),
});

/** The changed version. */
export interface Changed
  extends Omit<RefreshResult, 'proposals' | 'settled' | 'content' | 'provenance' | 'sources'> {
  readonly decided: Decided;
  /** Its fields outside the body. */
  readonly fields: Omit<Snapshot, 'document' | 'assets'>;
  readonly body: RenderedDocument;
}

export interface AppliedRefresh extends Pick<RefreshResult, 'proposals' | 'settled'> {
  readonly ok: true;
  readonly changed: Changed;
  /** Number and weight of the texts sent for applied and proposed units. */
  readonly delivered: { readonly sent: number; readonly weight: number };
  /** Keys of texts whose translation is too long to save. */
  readonly overlong: ReadonlySet<string>;
}

/** The applied refresh, or why it cannot be written. */
export type Applied = AppliedRefresh | Unwritable;

function changedBy({
  content,
  provenance,
  sources,
  ...result
}: Omit<RefreshResult, 'proposals' | 'settled'>): Changed {
  const { document, assets: _, ...fields } = content;
  const body = toStore(document);
  return { ...result, fields, body, decided: toDecided({ provenance, sources }) };
}

/**
 * Number and weight of the texts sent for these units: only they are charged.
 * @param unpaid keys of texts that are not charged
 */
function deliveredOf(
  { partial, kept, ...plan }: RefreshPlan,
  units: ReadonlySet<UnitKey>,
  unpaid: ReadonlySet<string>,
) {
  if (unpaid.size === 0 && plan.steps.every(({ key }) => units.has(key))) {
    return { sent: plan.sent, weight: plan.weight };
  }
  const rest = {
    languages: plan.languages,
    kept: [...kept, ...[...unpaid].map((key) => [fieldKey(key), { text: '' }] as const)],
    partial: {
      ...fieldsAmong(partial, (key) => units.has(key)),
      document: {
        version: 1 as const,
        // Keys are positions: other blocks become empty placeholders.
        blocks: partial.document.blocks.map((block) =>
          units.has(`block:${block.id}`) ? block : { id: block.id, type: 'divider' as const },
        ),
      },
      assets: partial.assets.map((asset) =>
        units.has(`image:${asset.id}`) ? asset : { ...asset, altText: '' },
      ),
    },
  };
  return { sent: segmentsToSend(rest).length, weight: weigh(rest) };
}

/** Applies a plan to the version or draft as it is now; `oldSources` has what the changed units were translated from. */
export function applyPlan(
  plan: string,
  oldSources: string,
  version: string,
  provenance: string | null,
  translations: ReadonlyMap<string, string | null>,
  unpaid: ReadonlySet<string>,
  copyIds: ReadonlyMap<string, AssetId>,
  proposeAll: boolean,
  by: Writer,
): Applied {
  return orUnwritable(() => {
    const planned = read<RefreshPlan>(plan);
    const { proposals, settled, overlong, ...result } = applyRefresh(planned, {
      translations,
      current: read<Snapshot>(version),
      provenance: readProvenance(provenance),
      oldSources: read<UnitSources>(oldSources),
      copyIds,
      proposeAll,
    });
    const units = new Set([...result.applied, ...proposals.map(({ key }) => key)]);
    const delivered = deliveredOf(planned, units, unpaid.union(overlong));
    const applied = new Set(result.applied);
    const written = withWriters(result.provenance, (key) => (applied.has(key) ? by : undefined));
    const changed = changedBy({ ...result, provenance: written });
    return { ok: true, proposals, settled, changed, delivered, overlong };
  });
}

/** The version after decisions; `changed` is null when nothing was accepted. */
export interface DecidedVersion {
  readonly ok: true;
  readonly changed: Changed | null;
  readonly decided: Decided;
}

/** Carries out decisions about proposals, or says why not; `decisions` is a list of `Decision`. */
export function decide(
  decisions: string,
  version: string,
  provenance: string | null,
  at: string,
): DecidedVersion | Extract<DecidedUnits, { ok: false }> {
  const decided = decideUnits(
    read<Snapshot>(version),
    readProvenance(provenance),
    read<Decision[]>(decisions),
    at,
  );
  if (!decided.ok) return decided;
  const { result } = decided;
  const changed = result.applied.length === 0 ? null : changedBy(result);
  return { ok: true, changed, decided: changed?.decided ?? toDecided(result) };
}

/** What is kept about a version after units of it are marked as up to date. */
export interface MarkedVersion {
  readonly decided: Decided;
  readonly keys: readonly UnitKey[];
  /** Names of units that neither side has. */
  readonly unknown: readonly string[];
}

/** @param named names of units; null for all that both sides have */
export function markCurrent(
  source: string,
  version: string,
  provenance: string | null,
  named: readonly string[] | null,
  at: string,
): MarkedVersion {
  const sides = [read<Snapshot>(source), read<Snapshot>(version), readProvenance(provenance)] as const;
  const names = unitNames(...sides);
  const { keys, ...marked } = markUnits(...sides, named && new Set(named), at);
  return { keys, decided: toDecided(marked), unknown: unknownAmong(named ?? [], names) };
}

/** What stands in the version for each of these proposals (a list of `Proposal`). */
export const currentValues = (
  proposals: string,
  version: string,
  provenance: string | null,
): Map<UnitKey, UnitValue> =>
  valuesOf(
    read<Snapshot>(version),
    readProvenance(provenance),
    read<Proposal[]>(proposals).map((proposal) => ({ proposal })),
  );

/** Units of a version with their states, some of them, and how many there are. */
export function listUnits(
  source: string,
  version: string,
  provenance: string,
  { from, most }: { readonly from: number; readonly most: number },
): { units: ListedUnit[]; total: number } {
  const units = unitsListed(read<Snapshot>(source), read<Snapshot>(version), read<Provenance>(provenance));
  return { units: units.slice(from, from + most), total: units.length };
}
