/**
 * Types of a refresh, which compares a version with its source unit by unit (design.md §9). All are plain JSON, so that
 * they can be stored and passed between threads.
 */
import type { AssetId, JobId, ProposalId } from '../../ids.ts';
import type { Block } from '../format/schema.ts';
import type { TextChange } from '../format/walk.ts';
import type { LanguagePair } from '../translation/figures.ts';
import type { Snapshot, SourceAsset } from '../translation/source.ts';

export const META_UNITS = [
  'title',
  'metaTitle',
  'metaDescription',
  'targetKeywords',
  'secondaryKeywords',
] as const;
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

/** What was written for a source; both are hashes of `canonical.ts`. */
export interface Pair {
  readonly source: string;
  readonly target: string;
  /** A person wrote it: it is never replaced without a proposal. */
  readonly byPerson?: true;
}

/** Who made a unit's present pair, and when: the job that translated it, or a person who decided about it (null). */
export interface Writer {
  readonly jobId: JobId | null;
  /** RFC 3339. */
  readonly at: string;
}

/**
 * A unit's present pair, and the pairs before it. Its ids are those of both sides: `key` has the source's, `blockId` or
 * `assetId` the version's (contract.md T42).
 */
export interface UnitProvenance {
  readonly key: UnitKey;
  /**
   * Hash of the source's unit when it was translated, or when a proposal for it was rejected; empty when unknown or when a
   * text of it was left untranslated.
   */
  readonly source: string;
  /** Hash of the version's unit for that source; null when it has none, empty when unknown. */
  readonly target: string | null;
  /** Hash of the version's unit without its words. */
  readonly shape: string;
  /** Hashes of the source unit's texts, in order; they find list items and cells again. */
  readonly texts: readonly string[];
  /**
   * Hashes of the version's texts, in the same order; empty when nothing was written. A text that a person kept, and that
   * may belong to another of the source's, is empty.
   */
  readonly written: readonly string[];
  /** A person's words are in the version's unit: it was kept by a decision, or a proposal kept some of its texts. */
  readonly byPerson?: true;
  /** Absent when unknown. */
  readonly wrote?: Writer;
  /** Earlier pairs of the whole unit, newest first. */
  readonly past?: readonly Pair[];
  /** Earlier pairs of its texts, newest first. */
  readonly pastTexts?: readonly Pair[];
  /** The version's block; absent when it has none. */
  readonly blockId?: string;
  /** The version's copy of an image. */
  readonly assetId?: AssetId;
}

/** The units of the last translated source, in order, then those that only the version still has. */
export type Provenance = readonly UnitProvenance[];

/** Units of the source as they were translated, by key. */
export type UnitSources = Readonly<Partial<Record<UnitKey, UnitValue>>>;

/** Changes of {@link UnitSources}; null removes one. */
export type SourceChanges = readonly (readonly [key: UnitKey, source: UnitValue | null])[];

export const UNIT_STATES = ['current', 'stale', 'edited', 'editedAndStale', 'new', 'gone'] as const;
/**
 * `stale`: the source says something else than what the version's text was written for. `edited`: changed by a person in the
 * version. `new`: added to the source since the last
 * translation. `gone`: removed from the source.
 */
export type UnitState = (typeof UNIT_STATES)[number];

/** Number of units by state. */
export type StateCounts = Record<UnitState, number>;

/**
 * Why a change is proposed instead of applied. `asked`: only proposals were requested. `unmanaged`: the version has no
 * provenance, or was attached and has a pair that no person has confirmed. `ids`: under half of the translated block ids are still in the source, or in the version. `edited`: a
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
  /** Hashes of the source unit's texts. */
  readonly texts: readonly string[];
  /** The source's unit as the version's was translated from it; null when unknown. */
  readonly oldSource: UnitValue | null;
  /** The source's unit that `value` translates; null when it was removed. */
  readonly newSource: UnitValue | null;
  /** Ids of preceding blocks in the source, nearest first: a new block goes after the first one in the version. */
  readonly behind: readonly string[];
}

/** A person's decision about an open proposal. */
export interface Decision {
  readonly id: ProposalId;
  /** The refresh that made the proposal. */
  readonly jobId: JobId;
  readonly isAccepted: boolean;
  readonly proposal: Proposal;
}

/** Why a proposal cannot be accepted: its unit has changed since, or the version has the most blocks allowed. */
export interface Refusal {
  readonly id: ProposalId;
  readonly reason: 'changed' | 'full';
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
  /** The source's title. */
  readonly title: string;
  /** True for a first translation: it proposes nothing, and writes a skipped text as the source has it. */
  readonly isFirst: boolean;
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
  /**
   * What is known of a version without stored provenance: which units of the source it has and lacks; of an empty draft,
   * what the service has made of it.
   */
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
  /** See {@link RefreshPlan}. */
  readonly isFirst?: boolean;
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
  /** The sources of the units whose present pair has changed. */
  readonly sources: SourceChanges;
  /** Copies to add after the removals, with their new ids and alternative texts. */
  readonly addImages: readonly SourceAsset[];
  /** New alternative texts of the version's images. */
  readonly altTexts: readonly (readonly [assetId: AssetId, altText: string])[];
  /** The version's images that get other bytes, with the hash of those they have. */
  readonly replaceImages: readonly { readonly image: SourceAsset; readonly replaces: string }[];
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
  /** The sources that the changed units were translated from, as far as they are known. */
  readonly oldSources: UnitSources;
  /** Image of `plan.copies` → the id of its copy. */
  readonly copyIds: ReadonlyMap<string, AssetId>;
  /** Propose everything, because the version was approved or published since. */
  readonly proposeAll: boolean;
}
