/**
 * A version and the source it was translated from, compared unit by unit (design.md §9): what a refresh knows, plans
 * and brings about. All of it is plain JSON, so that it can be stored and pass between threads.
 */
import type { AssetId } from '../../ids.ts';
import type { Block } from '../format/schema.ts';
import type { TextChange } from '../format/walk.ts';
import type { Snapshot, SourceAsset } from '../translation/source.ts';

const META_UNITS = ['title', 'metaTitle', 'metaDescription', 'targetKeywords', 'secondaryKeywords'] as const;
export type MetaUnit = (typeof META_UNITS)[number];

/**
 * What a refresh takes or leaves as a whole: a field outside the body, a block by its id, an image by the id that the
 * source has for it. Slugs are not units: nothing changes them.
 */
export type UnitKey = MetaUnit | `block:${string}` | `image:${string}`;

/**
 * A unit's content. Of an image that is its row: the alternative text is the one beside the body's, and the id the
 * source's wherever the version has no copy yet.
 */
export type UnitValue =
  | { readonly type: 'text'; readonly text: string | null }
  | { readonly type: 'texts'; readonly texts: readonly string[] }
  | { readonly type: 'block'; readonly block: Block }
  | { readonly type: 'image'; readonly image: SourceAsset };

/** What is known of one unit since it was last translated. Hashes are those of `units.ts`. */
export interface UnitProvenance {
  readonly key: UnitKey;
  /** Of the source's unit as it was translated, or as it was when a proposal for it was rejected. */
  readonly source: string;
  /** Of the version's unit as it was written; null when nothing was, as for one that was rejected or taken away. */
  readonly target: string | null;
  /** Of each text of the source's unit, in order: list items and cells are found again by it. */
  readonly texts: readonly string[];
  /** Of each text as it was written, in the same order; empty when nothing was. */
  readonly written: readonly string[];
  /** Images alone: the version's copy. */
  readonly assetId?: AssetId;
}

/** The units of the source last translated, in its order, and behind them those that the version alone still has. */
export type Provenance = readonly UnitProvenance[];

export const UNIT_STATES = ['current', 'stale', 'edited', 'editedAndStale', 'new', 'gone'] as const;
/**
 * `stale`: the source has changed since. `edited`: a person has changed the version's. `new`: the source alone has it,
 * and did not when it was last translated. `gone`: the version alone still has it.
 */
export type UnitState = (typeof UNIT_STATES)[number];

/** How many units are in each state. */
export type StateCounts = Record<UnitState, number>;

/**
 * Why something is proposed instead of done. `asked`: proposals alone were asked for. `unmanaged`: the version has no
 * provenance. `ids`: under half of the block ids last translated are found again in the source, or in the version.
 * `edited`: a person has changed the unit. `saved`: a person did so while the refresh ran.
 * `full`: the version has as many blocks as a document may have.
 */
export type ProposalReason = 'asked' | 'unmanaged' | 'ids' | 'edited' | 'saved' | 'full';

export type RefreshAction = 'replace' | 'insert' | 'remove';

/** A change of one unit that a person accepts or rejects. There is one open proposal a unit. */
export interface Proposal {
  readonly key: UnitKey;
  readonly action: RefreshAction;
  readonly reason: ProposalReason;
  /** Hash of the source's unit; null when the source has none any more. */
  readonly source: string | null;
  /** Hash of the version's unit that it is for; null when there is none. It can be accepted only while that is so. */
  readonly target: string | null;
  /** What the unit becomes; null when it is removed. */
  readonly value: UnitValue | null;
  /** What is known of the unit once it is accepted; null when it is removed. */
  readonly provenance: UnitProvenance | null;
  /** Ids of blocks before it in the source, the nearest first: a new block goes behind the first that is there. */
  readonly behind: readonly string[];
}

/** What is done with one unit. */
export interface RefreshStep {
  readonly key: UnitKey;
  readonly action: RefreshAction;
  /** Null when it is to be applied. */
  readonly reason: ProposalReason | null;
  /** Hash of the source's unit when planned; null when it has none. */
  readonly source: string | null;
  /** Hash of the version's unit when planned; null when it has none. */
  readonly target: string | null;
  /** Hash of the source's unit as it was known when planned; null when it was not. A decision since then wins. */
  readonly known: string | null;
  /** Of each text of the source's unit. */
  readonly texts: readonly string[];
}

/** What a refresh does. It is complete: neither the source nor the version as they were are needed to apply it. */
export interface RefreshPlan {
  readonly steps: readonly RefreshStep[];
  /**
   * The source cut down to the units that are made. `segmentsToSend(plan)` are the texts of it that an engine gets;
   * keys are positions in it.
   */
  readonly partial: Snapshot;
  /** By field key of `partial`: texts that are there already, and so are neither sent nor priced. */
  readonly kept: readonly (readonly [key: string, change: TextChange])[];
  /** The version's copies of images, by the source's id. */
  readonly assetIds: readonly (readonly [sourceId: string, versionId: AssetId])[];
  /** Images of the source, with the source's ids, of which the version gets a copy (ids are made when it is applied). */
  readonly copies: readonly SourceAsset[];
  /** The source's units in order. */
  readonly order: readonly UnitKey[];
  /** What becomes known of a version without provenance: the units of the source that it does not have. */
  readonly adopted: Provenance;
  /** Units whose open proposal has nothing left to propose. */
  readonly settled: readonly UnitKey[];
  /** Texts that are sent. */
  readonly sent: number;
  /** What they weigh in the price (`textWeight`), meta texts, alternative texts, keywords and link titles included. */
  readonly weight: number;
}

export interface RefreshOptions {
  /** `untouched`: what no person has edited is written, the rest proposed. `none`: all is proposed. */
  readonly apply: 'untouched' | 'none';
  /** Only these, current ones too: their texts are all made again. */
  readonly units?: readonly UnitKey[] | undefined;
  /** The open proposals: what they hold for the source as it is now is not made again. */
  readonly proposed: readonly Proposal[];
}

/** What a refresh makes of a version. */
export interface RefreshResult {
  /** Its content, images included. Equal to what it was when nothing is applied. */
  readonly content: Snapshot;
  /** The units that were written, inserted or removed. */
  readonly applied: readonly UnitKey[];
  /** To be stored, each instead of the unit's open one. */
  readonly proposals: readonly Proposal[];
  /** Units whose open proposal has nothing left to propose. */
  readonly settled: readonly UnitKey[];
  readonly provenance: Provenance;
  /** Copies to be added, after those that go, with their new ids and alternative texts. */
  readonly addImages: readonly SourceAsset[];
  /** New alternative texts of the version's images. */
  readonly altTexts: readonly (readonly [assetId: AssetId, altText: string])[];
  /** The version's images that go. */
  readonly removeImages: readonly AssetId[];
}

/** What applying needs besides the plan. */
export interface RefreshInput {
  /** By segment key: a checked translation of each of `segmentsToSend(plan)`; null for one that is left. */
  readonly translations: ReadonlyMap<string, string | null>;
  /** The version as it is now: what a person has saved since the plan was made wins. */
  readonly current: Snapshot;
  /** What is known of it now; null when it has no provenance. */
  readonly provenance: Provenance | null;
  /** Image of `plan.copies` → the id of its copy. */
  readonly copyIds: ReadonlyMap<string, AssetId>;
  /** Everything becomes a proposal, because the version has been approved or published meanwhile. */
  readonly proposeAll: boolean;
}
