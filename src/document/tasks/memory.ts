/** Keys and checks of the translation memory. Whole articles come in as JSON text. */
import { hash } from 'node:crypto';
import { type TaughtText, taughtBy } from '../refresh/taught.ts';
import type { Provenance } from '../refresh/types.ts';
import { indexTerms } from '../text/term-index.ts';
import { checkSegment, type SegmentFacts } from '../translation/checks/segment.ts';
import { checkStructure } from '../translation/checks/structure.ts';
import type { GlossaryTerm } from '../translation/context.ts';
import type { LanguagePair } from '../translation/figures.ts';
import type { SegmentKind } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { plainText } from '../translation/tags.ts';

/** Hashes of a text, and of what determines its translation: of the maker and its terms, a dot, and of the voice. */
export interface MemoryKey {
  readonly text: string;
  readonly maker: string;
}

/** 132 bits: collisions are infeasible. */
const keyOf = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22);

const keyOfText = (languages: LanguagePair, kind: SegmentKind, text: string): string =>
  keyOf([languages.sourceLanguage, languages.targetLanguage, kind, text]);

/**
 * Memory keys by text key.
 * @param maker identifies engine and instructions; the glossary terms (JSON text) in a text are part of its key
 * @param voice hash of what the style sheet decides for every text
 * @param revised what is translated in view of an old translation, by text key (contract.md V59)
 */
export function memoryKeys(
  texts: ReadonlyMap<string, string>,
  kinds: ReadonlyMap<string, SegmentKind>,
  revised: ReadonlyMap<string, string>,
  languages: LanguagePair,
  maker: string,
  glossary: string,
  voice: string,
): Map<string, MemoryKey> {
  const termsIn = indexTerms(JSON.parse(glossary) as readonly GlossaryTerm[], languages.sourceLanguage);
  const keys = new Map<string, MemoryKey>();
  for (const [key, text] of texts) {
    const terms = termsIn(plainText(text));
    const old = revised.get(key);
    keys.set(key, {
      text: keyOfText(languages, kinds.get(key) ?? 'paragraph', text),
      maker: `${keyOf(old === undefined ? [maker, terms] : [maker, terms, old])}.${voice}`,
    });
  }
  return keys;
}

/** `SegmentFacts` shared by all texts. */
export type MemoryFacts = Omit<SegmentFacts, 'kind'>;

/** A stored translation of a text. */
export interface Candidate {
  readonly kind: SegmentKind;
  readonly source: string;
  readonly target: string;
  /** True when people approved it. An engine's translation with the same key was checked when it was stored. */
  readonly approved: boolean;
}

/** The indexes of the usable candidates (JSON text). */
export const fitting = (candidates: string, facts: MemoryFacts): number[] =>
  (JSON.parse(candidates) as Candidate[]).flatMap(({ source, target, kind, approved }, place) => {
    const defects = approved
      ? checkSegment(source, target, { ...facts, kind })
      : checkStructure(source, target);
    return defects.length === 0 ? place : [];
  });

/** The approved translations of a version that pass all checks, by the keys of the source's texts. */
export function taughtTexts(
  source: string,
  version: string,
  provenance: string,
  facts: MemoryFacts,
): Map<string, TaughtText> {
  const taught = taughtBy(
    JSON.parse(source) as Snapshot,
    JSON.parse(version) as Snapshot,
    JSON.parse(provenance) as Provenance,
  );
  return new Map(
    taught
      .filter(({ kind, source, target }) => checkSegment(source, target, { ...facts, kind }).length === 0)
      .map((text) => [keyOfText(facts, text.kind, text.source), text]),
  );
}
