/** Everything that is looked for in a provider's answer. */
import type { GlossaryTerm } from '../context.ts';
import type { SegmentKind } from '../segments.ts';
import { checkChatter } from './chatter.ts';
import type { Defect } from './defects.ts';
import { checkGlossary } from './glossary.ts';
import { checkLanguage } from './language.ts';
import { checkLength } from './length.ts';
import { checkLimit } from './limits.ts';
import { checkNumbers } from './numbers.ts';
import { checkScript } from './script.ts';
import { checkStructure } from './structure.ts';
import { wordsOf } from './text.ts';
import { checkUnits } from './units.ts';

/** Defects of one answer that are told, kept and listed. */
const MOST = 10;

/** What is known of a text besides its words. */
export interface SegmentFacts {
  readonly kind: SegmentKind;
  /** Language tags. */
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  /** Terms of the article. */
  readonly glossary: readonly GlossaryTerm[];
  /** True for pseudo-localisation, which is not a language: only its structure is checked. */
  readonly pseudo: boolean;
}

/**
 * What is wrong with `translated` as a translation of `source`, both in protected form. Without a hard defect it can be
 * written back without damage. The first ten are told.
 */
export function checkSegment(source: string, translated: string, facts: SegmentFacts): Defect[] {
  const damage = checkStructure(source, translated).slice(0, MOST);
  if (facts.pseudo || damage.length > 0) return damage;
  const pair = { source: wordsOf(source), translated: wordsOf(translated) };
  const both = [pair.source, pair.translated] as const;
  return [
    ...checkChatter(...both),
    ...checkLength(...both, facts),
    ...checkNumbers(...both, facts),
    ...checkUnits(...both),
    ...checkScript(...both, facts.targetLanguage),
    ...checkLanguage(pair, facts),
    ...checkLimit(facts.kind, pair.translated),
    ...checkGlossary(...both, facts.glossary),
  ].slice(0, MOST);
}
