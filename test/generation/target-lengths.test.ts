import '../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTextWords } from '../../src/document/format/words.ts';
import { bodyWords, FAQ_WORDS } from '../../src/generation/config.ts';
import {
  faqLength,
  isNear,
  type PartLength,
  scaleLengths,
  sectionLength,
} from '../../src/generation/target-lengths.ts';
import { anyConfig, anyOutlineFor } from './arbitraries.ts';

const anyPlan = anyConfig.chain((config) =>
  fc.record({
    config: fc.constant(config),
    outline: anyOutlineFor(config),
  }),
);

describe('lengths', () => {
  it('of a body are wordCount, or 250 words less with questions, but never below 100', () => {
    const planned = (wordCount: number, faq: boolean) => bodyWords({ wordCount, faq });
    expect([planned(200, false), planned(200, true), planned(350, true), planned(351, true)]).toEqual([
      200, 100, 100, 101,
    ]);
    expect([planned(1_200, false), planned(1_200, true)]).toEqual([1_200, 950]);
  });

  // contract.md G33
  it('of the sections are their shares of the body, to the word', () => {
    fc.assert(
      fc.property(anyPlan, ({ config, outline }) => {
        const words = bodyWords(config);
        const lengths = scaleLengths(outline.sections, words);
        expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(words);
        expect(Math.min(...lengths)).toBeGreaterThanOrEqual(20);
        expect(lengths.every(Number.isInteger)).toBe(true);
        // What some would have beyond 2,000 words goes to the others by their shares.
        const full = lengths.filter((length) => length === 2_000).length;
        const others = outline.sections.filter((_, index) => lengths[index] !== 2_000);
        const shares = others.reduce((sum, { estimatedWords }) => sum + estimatedWords, 0);
        const free = words - 2_000 * full - 20 * others.length;
        outline.sections.forEach(({ estimatedWords }, index) => {
          const length = lengths[index] ?? 0;
          const share = 20 + (free * estimatedWords) / shares;
          if (length === 2_000) expect(others.length === 0 || share >= 1_999).toBe(true);
          else expect(Math.abs(length - share)).toBeLessThanOrEqual(2);
        });
      }),
    );
  });

  // contract.md G33
  it('of no section are more than a model writes at once, however uneven the outline is and whatever came before', () => {
    const uneven = [5_000, 20, 20, 20, 20, 20].map((estimatedWords) => ({ estimatedWords }));
    expect(scaleLengths(uneven, 10_000)).toEqual([2_000, 1_600, 1_600, 1_600, 1_600, 1_600]);
    expect(scaleLengths(uneven.slice(0, 5), 10_000)).toEqual(Array(5).fill(2_000));
    expect(scaleLengths(uneven.slice(0, 2), 10_000)).toEqual([5_000, 5_000]);
    fc.assert(
      fc.property(
        anyPlan,
        fc.array(fc.nat({ max: 300 }), { minLength: 40, maxLength: 40 }),
        ({ config, outline }, ratios) => {
          const written: PartLength[] = [];
          for (const [index] of outline.sections.entries()) {
            const { words } = sectionLength(config, outline, written);
            expect(words).toBeLessThanOrEqual(2_000);
            written.push({ words: Math.round((words * (ratios[index] ?? 100)) / 100), asked: words });
          }
        },
      ),
    );
  });

  it('of all calls together never ask for more than twice wordCount, whatever comes back', () => {
    const answers = fc.infiniteStream(
      fc.record({ ratio: fc.integer({ min: 0, max: 300 }), repairs: fc.nat({ max: 2 }) }),
    );
    fc.assert(
      fc.property(anyPlan, answers, ({ config, outline }, stream) => {
        const written: PartLength[] = [];
        const write = ({ words, spare }: { words: number; spare: number }): PartLength => {
          expect(words).toBeGreaterThan(0);
          const { ratio, repairs } = stream.next().value ?? { ratio: 100, repairs: 0 };
          const again = Math.min(repairs, Math.floor(spare / words));
          return { words: Math.round((words * ratio) / 100), asked: words * (1 + again) };
        };
        for (const _ of outline.sections) written.push(write(sectionLength(config, outline, written)));
        if (config.faq) written.push(write(faqLength(config, outline, written)));
        const asked = written.reduce((sum, part) => sum + part.asked, 0);
        expect(asked).toBeLessThanOrEqual(2 * config.wordCount);
      }),
    );
  });

  // contract.md G34
  it('of an article are within ten per cent when each section comes as asked, or a quarter off to either side', () => {
    // A section has room to make good what others wrote too little.
    const plain = anyPlan.filter(
      ({ config, outline: { sections } }) =>
        config.wordCount >= 600 && sections.length >= 4 && bodyWords(config) <= 1_300 * sections.length,
    );
    fc.assert(
      fc.property(
        plain,
        fc.array(fc.boolean(), { minLength: 41, maxLength: 41 }),
        ({ config, outline }, signs) => {
          const even = {
            ...outline,
            sections: outline.sections.map((section) => ({ ...section, estimatedWords: 100 })),
          };
          for (const off of [0, 0.25]) {
            const written: PartLength[] = [];
            for (const index of even.sections.keys()) {
              const { words } = sectionLength(config, even, written);
              written.push({ words: Math.round(words * (1 + (signs[index] ? off : -off))), asked: words });
            }
            const headings = even.sections.reduce((sum, { heading }) => sum + countTextWords(heading), 0);
            let total = written.reduce((sum, { words }) => sum + words, headings);
            if (config.faq) total += faqLength(config, even, written).words;
            const planned = bodyWords(config) + (config.faq ? FAQ_WORDS : 0);
            expect(Math.abs(total - planned)).toBeLessThanOrEqual(planned * 0.1);
          }
        },
      ),
    );
  });

  it('of a section are near enough within a quarter or 40 words', () => {
    expect([74, 75, 125, 126].map((words) => isNear(words, 100))).toEqual([true, true, true, true]);
    expect([59, 60, 140, 141].map((words) => isNear(words, 100))).toEqual([false, true, true, false]);
    expect([749, 750, 1_250, 1_251].map((words) => isNear(words, 1_000))).toEqual([false, true, true, false]);
  });
});
