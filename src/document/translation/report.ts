/** What became of the texts of a job, as it is kept. */
import type { DefectCode } from './checks/defects.ts';
import type { SegmentKind } from './segments.ts';

/**
 * How a text ended, the worst first. `left`: nothing usable came. `accepted`: with a defect that one repair did not
 * remove. `memory`: translated before.
 */
export const OUTCOMES = ['left', 'accepted', 'repaired', 'memory', 'clean'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface FoundDefect {
  readonly code: DefectCode;
  /** May quote a few words; gone once the job's texts are. */
  readonly message?: string;
}

/** A text that is not clean. */
export interface ReportEntry {
  readonly outcome: Outcome;
  readonly kind: SegmentKind | null;
  /** Of a text of the body. */
  readonly blockId: string | null;
  /** Of an image's alternative text outside the body: the source's image. */
  readonly assetId: string | null;
  /** Its place in the block, or the field outside the body. */
  readonly field: string;
  readonly words: number;
  readonly defects: readonly FoundDefect[];
}

/** How many of something have each outcome; `open` have none yet. */
export type Tally = Readonly<Record<Outcome | 'open' | 'total', number>>;

export interface StoredReport {
  readonly texts: Tally;
  readonly words: Tally;
  readonly entries: readonly ReportEntry[];
  /** Entries that are not listed. */
  readonly omitted: number;
}

/** Where a text stands, by its segment's key; `blocks` and `assets` are the ids that the keys' positions stand for. */
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
