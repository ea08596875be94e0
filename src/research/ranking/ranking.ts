/** Ranks texts for a query by Okapi BM25. */
import { isNumber } from './terms.ts';

/** Terms of a text, and how much each of them counts. */
export interface Field {
  readonly terms: readonly string[];
  readonly weight: number;
}

export interface Ranked {
  /** The place of the text, in the order of `add`. */
  readonly at: number;
  readonly score: number;
}

export interface Ranking {
  add(fields: readonly Field[]): void;
  /** The texts that share a term with the query, best first, the earlier of two alike before the later. */
  best(query: readonly string[], most: number): readonly Ranked[];
}

/** How soon a repetition counts no more, and how much length counts against a text. */
const K1 = 1.2;
const B = 0.5;
/** A number is what a claim is often about. */
const NUMBER_WEIGHT = 2;
/** Terms of a query that are looked up. */
const MAX_TERMS = 100;

export function createRanking(): Ranking {
  const lengths: number[] = [];
  const counts = new Map<string, Map<number, number>>();
  let total = 0;

  return {
    add(fields) {
      const at = lengths.length;
      let length = 0;
      for (const { terms, weight } of fields) {
        for (const term of terms) {
          const places = counts.get(term) ?? new Map<number, number>();
          counts.set(term, places);
          places.set(at, (places.get(at) ?? 0) + weight);
          length += weight;
        }
      }
      lengths.push(length);
      total += length;
    },
    best(query, most) {
      const scores = new Map<number, number>();
      const mean = total / Math.max(1, lengths.length);
      for (const term of [...new Set(query)].slice(0, MAX_TERMS)) {
        const places = counts.get(term);
        if (places === undefined) continue;
        const rarity = Math.log(1 + (lengths.length - places.size + 0.5) / (places.size + 0.5));
        const weight = rarity * (isNumber(term) ? NUMBER_WEIGHT : 1);
        for (const [at, count] of places) {
          const norm = K1 * (1 - B + (B * (lengths[at] ?? 0)) / mean);
          scores.set(at, (scores.get(at) ?? 0) + (weight * count * (K1 + 1)) / (count + norm));
        }
      }
      return [...scores]
        .map(([at, score]) => ({ at, score }))
        .sort((a, b) => b.score - a.score || a.at - b.at)
        .slice(0, most);
    },
  };
}
