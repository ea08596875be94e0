/** All checks of a provider's translation of one segment. */
import type { GlossaryTerm } from '../context.ts';
import type { SegmentKind } from '../segments.ts';
import { checkChatter } from './chatter.ts';
import type { Defect } from './defects.ts';
import { checkGlossary } from './glossary.ts';
import { checkLanguage } from './language.ts';
import { checkLayout } from './layout.ts';
import { checkLength } from './length.ts';
import { checkLimit } from './limits.ts';
import { checkNumbers } from './numbers.ts';
import { checkScript } from './script.ts';
import { checkStructure } from './structure.ts';
import { wordsOf } from './text.ts';
import { checkUnits } from './units.ts';

/** The most defects reported and stored for one response. */
const MAX_DEFECTS = 10;

/** The facts that a text is checked against. */
export interface SegmentFacts {
  readonly kind: SegmentKind;
  /** Language tags. */
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  /** Terms of the article. */
  readonly glossary: readonly GlossaryTerm[];
  /** True for pseudo-localisation: only its structure is checked. */
  readonly pseudo: boolean;
}

/**
 * Checks `translated` as a translation of `source`, both in protected form, and returns the first ten defects. Without a
 * hard defect it can be written back without damage.
 */
export function checkSegment(source: string, translated: string, facts: SegmentFacts): Defect[] {
  const damage = checkStructure(source, translated).slice(0, MAX_DEFECTS);
  if (facts.pseudo || damage.length > 0) return damage;
  const pair = { source: wordsOf(source), translated: wordsOf(translated) };
  const both = [pair.source, pair.translated] as const;
  return [
    ...checkChatter(...both),
    ...checkLength(...both, facts),
    ...checkNumbers(...both, facts),
    ...checkUnits(...both),
    ...checkScript(...both, facts),
    ...checkLanguage(pair, facts),
    ...checkLayout(...both, facts),
    ...checkLimit(facts.kind, pair.translated),
    ...checkGlossary(...both, facts.glossary, facts),
  ].slice(0, MAX_DEFECTS);
}
