/** Tasks of a refresh and its proposals on whole versions. Texts that come in are JSON. */
import type { AssetId } from '../../ids.ts';
import { MAX_BLOCKS } from '../format/schema.ts';
import { ParsedTexts } from '../inline/texts.ts';
import { applyRefresh } from '../refresh/apply.ts';
import { acceptProposal, rejectProposal } from '../refresh/decide.ts';
import { planRefresh, segmentsToSend } from '../refresh/plan.ts';
import { blockKeys } from '../refresh/states.ts';
import type {
  Proposal,
  Provenance,
  RefreshOptions,
  RefreshPlan,
  RefreshResult,
  UnitKey,
  UnitSources,
} from '../refresh/types.ts';
import { blockKey, fieldsAmong } from '../refresh/units.ts';
import { weigh } from '../refresh/weigh.ts';
import { orUnwritable, type Unwritable } from '../translation/reassemble.ts';
import type { Segment } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { type RenderedDocument, toStore } from './stored.ts';

const read = <Value>(json: string): Value => JSON.parse(json) as Value;
const readProvenance = (json: string | null): Provenance | null =>
  json === null ? null : read<Provenance>(json);

/** A plan as JSON text, with its figures. */
export interface PlannedRefresh {
  readonly plan: string;
  readonly sent: number;
  readonly weight: number;
  /** Bytes to reserve for copies of images. */
  readonly bytes: number;
  /** Number of blocks in the source. */
  readonly blocks: number;
  /** Number of changed units. */
  readonly changed: { readonly blocks: number; readonly fields: number; readonly images: number };
  /** The changed units. */
  readonly keys: readonly UnitKey[];
  /** Ids of `blocks` that neither side has. */
  readonly unknown: readonly string[];
}

/** How a refresh was requested. */
export interface PlanOptions {
  readonly apply: RefreshOptions['apply'];
  readonly languages?: RefreshOptions['languages'];
  /** Ids of blocks, of either side; undefined for all units. */
  readonly blocks?: readonly string[] | undefined;
}

/** Looks up the key of a block by its id; the source's goes first. */
function keyFinder(source: Snapshot, version: Snapshot, provenance: Provenance | null) {
  const inSource = new Set(source.document.blocks.map(({ id }) => id));
  const inVersion = new Set(version.document.blocks.map(({ id }) => id));
  const keyOfBlock = blockKeys(provenance);
  return (id: string): UnitKey | undefined => {
    if (inSource.has(id)) return blockKey(id);
    return inVersion.has(id) ? (keyOfBlock(id) ?? blockKey(id)) : undefined;
  };
}

/** Plans a refresh of a version; `proposed` are its open proposals. */
export function planVersion(
  sourceJson: string,
  versionJson: string,
  provenance: string | null,
  proposed: string,
  { apply, languages, blocks: named }: PlanOptions,
): PlannedRefresh {
  const source = read<Snapshot>(sourceJson);
  const version = read<Snapshot>(versionJson);
  const known = readProvenance(provenance);
  const keyOf = keyFinder(source, version, known);
  const plan = planRefresh(source, version, known, {
    apply,
    languages,
    units: named?.flatMap((id) => keyOf(id) ?? []),
    proposed: read<Proposal[]>(proposed),
  });
  const keys = plan.steps.map(({ key }) => key);
  const blocks = keys.filter((key) => key.startsWith('block:')).length;
  const images = keys.filter((key) => key.startsWith('image:')).length;
  return {
    plan: JSON.stringify(plan),
    sent: plan.sent,
    weight: plan.weight,
    bytes: plan.copies.reduce((sum, { byteSize }) => sum + byteSize, 0),
    blocks: source.document.blocks.length,
    changed: { blocks, images, fields: keys.length - blocks - images },
    keys,
    unknown: (named ?? []).filter((id) => keyOf(id) === undefined),
  };
}

/** The texts to send for a stored refresh, and the partial article that they are from. */
export function sentOf(
  refresh: string,
): Pick<RefreshPlan, 'partial' | 'languages'> & { segments: Segment[] } {
  const { plan } = read<{ plan: RefreshPlan }>(refresh);
  return { partial: plan.partial, languages: plan.languages, segments: segmentsToSend(plan) };
}

/** Changes of what is kept about a version's translation. JSON text: for a large table it is too long to parse on the event loop. */
export interface Decided {
  /** A `Provenance`. */
  readonly provenance: string;
  /** `UnitSources` to add. */
  readonly sources: string;
  /** Units whose source goes. */
  readonly withoutSource: readonly UnitKey[];
}

const toDecided = ({ provenance, sources }: Pick<RefreshResult, 'provenance' | 'sources'>): Decided => ({
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
  const body = toStore(document, new ParsedTexts());
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
    kept: [...kept, ...[...unpaid].map((key) => [key.replace(/\.part\.\d+$/, ''), { text: '' }] as const)],
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

/** Applies a plan to the version as it is now; `oldSources` has what the changed units were translated from. */
export function applyPlan(
  plan: string,
  oldSources: string,
  version: string,
  provenance: string | null,
  translations: ReadonlyMap<string, string | null>,
  unpaid: ReadonlySet<string>,
  copyIds: ReadonlyMap<string, AssetId>,
  proposeAll: boolean,
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
    return { ok: true, proposals, settled, changed: changedBy(result), delivered, overlong };
  });
}

/** Why a proposal cannot be accepted: its unit has changed since, or the version has the most blocks allowed. */
export type Refusal = 'changed' | 'full';

/** The version after the proposal is accepted. */
export function accept(proposal: string, version: string, provenance: string | null): Changed | Refusal {
  const before = read<Snapshot>(version);
  const result = acceptProposal(before, readProvenance(provenance), read<Proposal>(proposal));
  if (result === null) return 'changed';
  const { length } = result.content.document.blocks;
  return length > MAX_BLOCKS && length > before.document.blocks.length ? 'full' : changedBy(result);
}

/** What is kept about the version after the proposal is rejected. */
export const reject = (proposal: string, version: string, provenance: string | null): Decided =>
  toDecided(rejectProposal(read<Snapshot>(version), readProvenance(provenance), read<Proposal>(proposal)));
