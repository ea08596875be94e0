/** What the memory of translations is looked up and written by; whole articles come in as JSON text. */
import { hash } from 'node:crypto';
import { taughtBy } from '../refresh/taught.ts';
import type { Provenance } from '../refresh/types.ts';
import { indexTerms } from '../text/term-index.ts';
import { checkSegment, type SegmentFacts } from '../translation/checks/segment.ts';
import { checkStructure } from '../translation/checks/structure.ts';
import type { GlossaryTerm } from '../translation/context.ts';
import type { SegmentKind } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { plainText } from '../translation/tags.ts';

/** From which language into which one. */
export type LanguagePair = Pick<SegmentFacts, 'sourceLanguage' | 'targetLanguage'>;

/** Stands for a text, and for what would make its translation. */
export interface MemoryKey {
  readonly text: string;
  readonly maker: string;
}

/** 132 bits: nobody finds two texts with one key. */
const keyOf = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22);

const keyOfText = (languages: LanguagePair, kind: SegmentKind, text: string): string =>
  keyOf([languages.sourceLanguage, languages.targetLanguage, kind, text]);

/**
 * The keys of texts, by theirs.
 * @param maker stands for engine and style; the terms of the glossary (JSON text) that a text has stand for themselves
 */
export function memoryKeys(
  texts: ReadonlyMap<string, string>,
  kinds: ReadonlyMap<string, SegmentKind>,
  languages: LanguagePair,
  maker: string,
  glossary: string,
): Map<string, MemoryKey> {
  const termsIn = indexTerms(JSON.parse(glossary) as readonly GlossaryTerm[]);
  const keys = new Map<string, MemoryKey>();
  for (const [key, text] of texts) {
    const terms = termsIn(plainText(text));
    keys.set(key, {
      text: keyOfText(languages, kinds.get(key) ?? 'paragraph', text),
      maker: keyOf([maker, terms]),
    });
  }
  return keys;
}

/** What texts are checked by, but for their kind. */
export type MemoryFacts = Omit<SegmentFacts, 'kind'>;

/** A translation that is remembered of a text. */
export interface Candidate {
  readonly kind: SegmentKind;
  readonly source: string;
  readonly target: string;
  /** Whether it is people's: what an engine made under the same terms was checked when it came. */
  readonly approved: boolean;
}

/** The places of those candidates (JSON text) that can be used. */
export const fitting = (candidates: string, facts: MemoryFacts): number[] =>
  (JSON.parse(candidates) as Candidate[]).flatMap(({ source, target, kind, approved }, place) => {
    const defects = approved
      ? checkSegment(source, target, { ...facts, kind })
      : checkStructure(source, target);
    return defects.length === 0 ? place : [];
  });

/** What a version teaches, by the keys of the source's texts: what passes all checks. */
export function taughtTexts(
  source: string,
  version: string,
  provenance: string,
  facts: MemoryFacts,
): Map<string, string> {
  const taught = taughtBy(
    JSON.parse(source) as Snapshot,
    JSON.parse(version) as Snapshot,
    JSON.parse(provenance) as Provenance,
  );
  return new Map(
    taught
      .filter(({ kind, source, target }) => checkSegment(source, target, { ...facts, kind }).length === 0)
      .map((text) => [keyOfText(facts, text.kind, text.source), text.target]),
  );
}
