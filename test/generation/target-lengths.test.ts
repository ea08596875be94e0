import '../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTextWords } from '../../src/document/format/words.ts';
import { bodyWords, faqWords, leadWords } from '../../src/generation/config.ts';
import { MAX_SECTIONS } from '../../src/generation/outline.ts';
import {
  faqTarget,
  isShort,
  leadRoom,
  type PartLength,
  partLengths,
  roomFor,
  scaleLengths,
  sectionTarget,
} from '../../src/generation/target-lengths.ts';
import { anyConfig, anyOutlineFor } from './arbitraries.ts';

const anyPlan = anyConfig.chain((config) =>
  fc.record({
    config: fc.boolean().map((leads) => ({ ...config, lead: leads ? leadWords(config) : 0 })),
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

  it('of all parts add up to wordCount', () => {
    fc.assert(
      fc.property(anyPlan, ({ config, outline }) => {
        const sum = partLengths(config, outline).reduce((total, words) => total + words, config.lead);
        expect(sum).toBe(config.wordCount);
      }),
    );
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
            const words = sectionTarget(config, outline, written);
            expect(words).toBeLessThanOrEqual(2_000);
            written.push({ words: Math.round((words * (ratios[index] ?? 100)) / 100) });
          }
        },
      ),
    );
  });

  // contract.md G34
  it('of an article are within ten per cent when each section comes as asked, or a fifth off to either side', () => {
    // A section has room to make good what others wrote too little.
    const plain = anyPlan.filter(
      ({ config, outline: { sections } }) =>
        config.wordCount >= 600 &&
        sections.length >= 4 &&
        bodyWords(config) - config.lead <= 1_300 * sections.length,
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
          for (const off of [0, 0.2]) {
            const written: PartLength[] = [];
            for (const index of even.sections.keys()) {
              const words = sectionTarget(config, even, written);
              written.push({ words: Math.round(words * (1 + (signs[index] ? off : -off))) });
            }
            const headings = even.sections.reduce((sum, { heading }) => sum + countTextWords(heading), 0);
            let total = written.reduce((sum, { words }) => sum + words, headings + config.lead);
            if (config.faq) total += faqWords(config);
            const tolerated = off === 0 ? 0.1 : 0.2;
            expect(Math.abs(total - config.wordCount)).toBeLessThanOrEqual(config.wordCount * tolerated);
          }
        },
      ),
    );
  });

  it('of a section are too short by more than a quarter and 40 words', () => {
    expect([59, 60, 100, 1_000].map((words) => isShort(words, 100))).toEqual([true, false, false, false]);
    expect([749, 750, 1_000].map((words) => isShort(words, 1_000))).toEqual([true, false, false]);
    expect([
      faqTarget({ wordCount: 1_200, faq: true }, 3),
      faqTarget({ wordCount: 200, faq: true }, 3),
    ]).toEqual([247, 97]);
  });

  // contract.md G59
  it('of an article are 1.15 times wordCount and 60 words at most when each part fills its room', () => {
    fc.assert(
      fc.property(
        anyPlan,
        fc.array(fc.nat({ max: 100 }), { minLength: 41, maxLength: 41 }),
        ({ config, outline }, filled) => {
          const { length } = partLengths(config, outline);
          const headings = outline.sections.map(({ heading }) => countTextWords(heading));
          const written: PartLength[] = [];
          for (let part = 0; part < length; part += 1) {
            const room = roomFor(config, outline, written, headings[part] ?? 3);
            expect(room).toBeGreaterThanOrEqual(1);
            written.push({ words: Math.max(1, Math.ceil((room * (filled[part] ?? 0)) / 100)) });
          }
          const body = written.reduce((sum, { words }, part) => sum + words + (headings[part] ?? 3), 0);
          const all = body + Math.max(0, leadRoom(config, body));
          const most = config.wordCount * 1.15 + 60;
          // Only headings can be longer, with a word below each.
          const least = headings.reduce((sum, words) => sum + words + 1, config.faq ? 4 : 0);
          expect(all).toBeLessThanOrEqual(Math.max(most, least));
          expect(length).toBeLessThanOrEqual(MAX_SECTIONS + 1);
        },
      ),
    );
  });
});
