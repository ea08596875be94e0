/**
 * Types of a refresh, which compares a version with its source unit by unit (design.md §9). All are plain JSON, so that
 * they can be stored and passed between threads.
 */
import type { AssetId } from '../../ids.ts';
import type { Block } from '../format/schema.ts';
import type { TextChange } from '../format/walk.ts';
import type { LanguagePair } from '../translation/figures.ts';
import type { Snapshot, SourceAsset } from '../translation/source.ts';

const META_UNITS = ['title', 'metaTitle', 'metaDescription', 'targetKeywords', 'secondaryKeywords'] as const;
export type MetaUnit = (typeof META_UNITS)[number];

/**
 * A refresh handles each unit as a whole: a field outside the body, a block by its id, an image by its id in the source.
 * Slugs are not units: a refresh never changes them.
 */
export type UnitKey = MetaUnit | `block:${string}` | `image:${string}`;

/**
 * A unit's content. For an image it is its row, with the row's alternative text, and with the source's id until the
 * version has a copy.
 */
export type UnitValue =
  | { readonly type: 'text'; readonly text: string | null }
  | { readonly type: 'texts'; readonly texts: readonly string[] }
  | { readonly type: 'block'; readonly block: Block }
  | { readonly type: 'image'; readonly image: SourceAsset };

/** The state of one unit when it was last translated. Hashes are those of `units.ts`. */
export interface UnitProvenance {
  readonly key: UnitKey;
  /** Hash of the source's unit when it was translated, or when a proposal for it was rejected. */
  readonly source: string;
  /** Hash of the version's unit as written; null when it was rejected or removed. */
  readonly target: string | null;
  /** Hashes of the source unit's texts, in order; they find list items and cells again. */
  readonly texts: readonly string[];
  /** Hashes of the written texts, in the same order; empty when nothing was written. */
  readonly written: readonly string[];
  /** The version's copy of an image. */
  readonly assetId?: AssetId;
}

/** The units of the last translated source, in order, then those that only the version still has. */
export type Provenance = readonly UnitProvenance[];

export const UNIT_STATES = ['current', 'stale', 'edited', 'editedAndStale', 'new', 'gone'] as const;
/**
 * `stale`: changed in the source. `edited`: changed by a person in the version. `new`: added to the source since the last
 * translation. `gone`: removed from the source.
 */
export type UnitState = (typeof UNIT_STATES)[number];

/** Number of units by state. */
export type StateCounts = Record<UnitState, number>;

/**
 * Why a change is proposed instead of applied. `asked`: only proposals were requested. `unmanaged`: the version has no
 * provenance. `ids`: under half of the translated block ids are still in the source, or in the version. `edited`: a
 * person changed the unit. `saved`: a person changed it during the refresh. `full`: the version has the most blocks
 * allowed.
 */
export type ProposalReason = 'asked' | 'unmanaged' | 'ids' | 'edited' | 'saved' | 'full';

export type RefreshAction = 'replace' | 'insert' | 'remove';

/** A change of one unit for a person to accept or reject. A unit has at most one open proposal. */
export interface Proposal {
  readonly key: UnitKey;
  readonly action: RefreshAction;
  readonly reason: ProposalReason;
  /** Hash of the source's unit; null when it was removed. */
  readonly source: string | null;
  /** Hash of the version's unit; null when there is none. The proposal can be accepted only while it matches. */
  readonly target: string | null;
  /** The unit's new value; null to remove it. */
  readonly value: UnitValue | null;
  /** The unit's provenance after acceptance; null when it is removed. */
  readonly provenance: UnitProvenance | null;
  /** Ids of preceding blocks in the source, nearest first: a new block goes after the first one in the version. */
  readonly behind: readonly string[];
}

/** The planned action for one unit. */
export interface RefreshStep {
  readonly key: UnitKey;
  readonly action: RefreshAction;
  /** Null to apply it. */
  readonly reason: ProposalReason | null;
  /** Hash of the source's unit when planned; null when it has none. */
  readonly source: string | null;
  /** Hash of the version's unit when planned; null when it has none. */
  readonly target: string | null;
  /** Source hash in the provenance when planned; null without one. A later decision by a person wins. */
  readonly known: string | null;
  /** Hashes of the source unit's texts. */
  readonly texts: readonly string[];
}

/** A plan can be applied without the source and the version that it was made from. */
export interface RefreshPlan {
  readonly steps: readonly RefreshStep[];
  /**
   * The part of the source to translate. Keys are positions in it; `segmentsToSend(plan)` gives the texts for the engine.
   */
  readonly partial: Snapshot;
  /** Null when unknown: figures alone are then not sent. */
  readonly languages: LanguagePair | null;
  /** Reused texts by field key of `partial`; they are neither sent nor charged. */
  readonly kept: readonly (readonly [key: string, change: TextChange])[];
  /** The version's copies of images by the source's ids. */
  readonly assetIds: readonly (readonly [sourceId: string, versionId: AssetId])[];
  /** Images of the source, with its ids, to copy to the version. New ids are made when the plan is applied. */
  readonly copies: readonly SourceAsset[];
  /** The source's units in order. */
  readonly order: readonly UnitKey[];
  /** For a version without provenance: the units of the source that it lacks. */
  readonly adopted: Provenance;
  /** Units whose open proposal has nothing left to propose. */
  readonly settled: readonly UnitKey[];
  /** Number of texts to send. */
  readonly sent: number;
  /** Their weight in the price (`textWeight`), with meta texts, alternative texts, keywords and link titles. */
  readonly weight: number;
}

export interface RefreshOptions {
  /** `untouched`: unedited units are written, the rest proposed. `none`: everything is proposed. */
  readonly apply: 'untouched' | 'none';
  /** Only these units, even current ones; all their texts are translated again. */
  readonly units?: readonly UnitKey[] | undefined;
  /** The open proposals; those for the current source are not made again. */
  readonly proposed: readonly Proposal[];
  readonly languages?: LanguagePair | undefined;
}

/** The result of applying a refresh to a version. */
export interface RefreshResult {
  /** The version's content with its images; unchanged when nothing is applied. */
  readonly content: Snapshot;
  /** The units that were written, inserted or removed. */
  readonly applied: readonly UnitKey[];
  /** To store; each replaces its unit's open proposal. */
  readonly proposals: readonly Proposal[];
  /** Units whose open proposal has nothing left to propose. */
  readonly settled: readonly UnitKey[];
  readonly provenance: Provenance;
  /** Copies to add after the removals, with their new ids and alternative texts. */
  readonly addImages: readonly SourceAsset[];
  /** New alternative texts of the version's images. */
  readonly altTexts: readonly (readonly [assetId: AssetId, altText: string])[];
  /** The version's images to remove. */
  readonly removeImages: readonly AssetId[];
}

/** The input for applying a plan. */
export interface RefreshInput {
  /** Checked translations of `segmentsToSend(plan)` by segment key; null for a skipped one. */
  readonly translations: ReadonlyMap<string, string | null>;
  /** The current version: changes saved since the plan was made win. */
  readonly current: Snapshot;
  /** Its current provenance; null without one. */
  readonly provenance: Provenance | null;
  /** Image of `plan.copies` → the id of its copy. */
  readonly copyIds: ReadonlyMap<string, AssetId>;
  /** Propose everything, because the version was approved or published since. */
  readonly proposeAll: boolean;
}
