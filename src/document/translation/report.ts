/** The stored report on the texts of a job. */
import type { DefectCode } from './checks/defects.ts';
import type { SegmentKind } from './segments.ts';

/**
 * The outcome of a text, worst first. `left`: no usable translation. `accepted`: with a defect that one repair did not
 * remove. `memory`: reused from an earlier translation.
 */
export const OUTCOMES = ['left', 'accepted', 'repaired', 'memory', 'clean'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface FoundDefect {
  readonly code: DefectCode;
  /** May quote a few words; deleted with the job's texts. */
  readonly message?: string;
}

/** A text with another outcome than `clean`. */
export interface ReportEntry {
  readonly outcome: Outcome;
  readonly kind: SegmentKind | null;
  /** Null for a text outside the body. */
  readonly blockId: string | null;
  /** The source's image, for an alternative text outside the body. */
  readonly assetId: string | null;
  /** The text's position in the block, or the field outside the body. */
  readonly field: string;
  readonly words: number;
  readonly defects: readonly FoundDefect[];
}

/** Counts by outcome; `open` have none yet. */
export type Tally = Readonly<Record<Outcome | 'open' | 'total', number>>;

export interface StoredReport {
  readonly texts: Tally;
  readonly words: Tally;
  readonly entries: readonly ReportEntry[];
  /** Number of entries that are not listed. */
  readonly omitted: number;
}

/** The place of a segment's text. `blocks` and `assets` map the positions in keys to ids. */
export function placeOf(
  key: string,
  { blocks, assets }: { readonly blocks: readonly string[]; readonly assets: readonly string[] },
): Pick<ReportEntry, 'blockId' | 'assetId' | 'field'> {
  const [, list, place, field] = /^(block|asset)\.(\d+)\.(.+)$/.exec(key) ?? [];
  if (field === undefined) return { blockId: null, assetId: null, field: key };
  const at = Number(place);
  return {
    blockId: list === 'block' ? (blocks[at] ?? null) : null,
    assetId: list === 'asset' ? (assets[at] ?? null) : null,
    field,
  };
}
