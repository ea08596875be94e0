import { countTextWords } from '../document/format/words.ts';
import { type GenerationConfig, leadWords } from './config.ts';
import { deliveredWords } from './delivered.ts';
import type { Outline } from './outline.ts';
import { finalText, ofKind, type Part } from './parts.ts';
import { type Lengths, partLengths } from './target-lengths.ts';
import type { ArticleSoFar, WritingBrief, WrittenPart } from './writing/brief.ts';
import { faqHeading } from './writing/faq-headings.ts';
import type { Plan } from './writing/plan.ts';
import { FAQ_ID } from './writing/write-faq.ts';

/** A section or the questions, as they stand in the article. */
export interface TextPart {
  readonly part: number;
  readonly id: string;
  readonly heading: string;
  /** Words planned for it, with its heading. */
  readonly planned: number;
  readonly text: WrittenPart;
}

/** What a run has written, and what from. */
export interface WrittenWork {
  readonly brief: WritingBrief;
  readonly outline: Outline;
  readonly plan: Plan | null;
  readonly parts: readonly Part[];
}

/** What the parts of an article have to be long. There is no lead before a section that opens the article (contract.md G83). */
export const lengthsOf = (config: GenerationConfig, plan: Plan | null): GenerationConfig & Lengths => ({
  ...config,
  lead: plan?.opening === true ? 0 : leadWords(config),
});

/** The written sections and the questions, without those that are left out. */
export function textParts({ brief, outline, plan, parts }: WrittenWork): readonly TextPart[] {
  const { config } = brief;
  const planned = partLengths(lengthsOf(config, plan), outline);
  const headings = [
    ...outline.sections.map(({ id, heading }) => ({ id, heading })),
    { id: FAQ_ID, heading: faqHeading(config.language) },
  ];
  return [...ofKind(parts, 'section'), ...ofKind(parts, 'faq')].flatMap((stored, index) => {
    const [heading, words] = [headings[index], planned[index]];
    const text = finalText(stored);
    if (heading === undefined || words === undefined || text.blocks.length === 0) return [];
    return { part: stored.part, ...heading, planned: words, text };
  });
}

/** Words of the headings above the parts. */
export const headingWords = (parts: readonly TextPart[]): number =>
  parts.reduce((sum, { heading }) => sum + countTextWords(heading), 0);

/** Words of the parts with their headings. */
export const textWords = (parts: readonly TextPart[]): number =>
  headingWords(parts) + deliveredWords(parts.flatMap(({ text }) => text.blocks));

/** The article as it stands after the editor's pass. */
export function articleOf({ outline, plan, parts }: WrittenWork): ArticleSoFar {
  const [faq] = ofKind(parts, 'faq');
  return {
    outline,
    plan,
    finished: ofKind(parts, 'section').map(finalText),
    faq: faq === undefined ? null : finalText(faq),
  };
}
