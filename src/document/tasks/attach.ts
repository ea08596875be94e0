/** Tasks on an article that becomes the version of another one. Texts that come in are JSON. */
import { type MarkedPairs, markPairs as markUnitPairs, pairSides, type UnitPair } from '../refresh/attach.ts';
import type { Provenance } from '../refresh/types.ts';
import type { Snapshot } from '../translation/source.ts';
import { type Decided, toDecided } from './refresh.ts';

const read = <Value>(json: string): Value => JSON.parse(json) as Value;

/** What is kept about a version after pairs of units are marked as translations of the present source. */
export interface MarkedUnitPairs extends Pick<MarkedPairs, 'keys' | 'displaced' | 'unknown'> {
  readonly decided: Decided;
}

/** @param pairs a list of `UnitPair` */
export function markPairs(
  source: string,
  version: string,
  provenance: string | null,
  pairs: string,
  at: string,
): MarkedUnitPairs {
  const { keys, displaced, unknown, ...marked } = markUnitPairs(
    read<Snapshot>(source),
    read<Snapshot>(version),
    provenance === null ? null : read<Provenance>(provenance),
    read<UnitPair[]>(pairs),
    at,
  );
  return { keys, displaced, unknown, decided: toDecided(marked) };
}

/** How two articles belong together, and what is kept about that. Lists are JSON text. */
export interface PairedSides {
  readonly count: number;
  readonly pairs: string;
  readonly onlyInSource: string;
  readonly onlyInVersion: string;
  readonly decided: Decided;
}

export function attach(source: string, version: string): PairedSides {
  const { pairs, onlyInSource, onlyInVersion, provenance } = pairSides(
    read<Snapshot>(source),
    read<Snapshot>(version),
  );
  return {
    count: pairs.length,
    pairs: JSON.stringify(pairs),
    onlyInSource: JSON.stringify(onlyInSource),
    onlyInVersion: JSON.stringify(onlyInVersion),
    decided: toDecided({ provenance, sources: [] }),
  };
}
