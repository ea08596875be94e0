import '../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generationConfigSchema } from '../../src/generation/config.ts';
import {
  chargeOf,
  firstRun,
  imagesOf,
  isTooShort,
  type PricedRun,
  priceOf,
} from '../../src/generation/price.ts';
import { anyConfig } from './arbitraries.ts';

const anyFeatures = fc.record({ webResearch: fc.boolean(), factChecking: fc.boolean() });
const anyDelivery = fc.record({
  words: fc.nat({ max: 20_000 }),
  images: fc.nat({ max: 25 }),
  research: fc.boolean(),
  factChecking: fc.boolean(),
});
const runs: readonly PricedRun[] = ['whole', 'outline', 'approved'];

describe('the price of a generation', () => {
  it.each([
    [200, 1],
    [1_000, 1],
    [1_001, 2],
    [2_000, 2],
    [10_000, 10],
  ])(
    'of %i words is %i begun thousands: 2 credits each for premium text, 1 for standard',
    (wordCount, steps) => {
      const price = (writingQuality: 'premium' | 'standard') =>
        priceOf(
          generationConfigSchema.parse({ topic: 'Roses', wordCount, writingQuality, imageCount: 0 }),
          { webResearch: false, factChecking: false },
          'whole',
        );
      expect(price('premium')).toMatchObject({ text: steps * 2, total: steps * 2 });
      expect(price('standard')).toMatchObject({ text: steps, total: steps });
    },
  );

  it.each([
    [999, 2],
    [1_000, 3],
    [1_999, 3],
    [2_000, 4],
    [2_999, 4],
    [3_000, 5],
    [10_000, 5],
  ])('takes for %i words %i images when imageCount is null', (wordCount, images) => {
    expect(imagesOf({ wordCount, imageCount: null })).toBe(images);
    expect(imagesOf({ wordCount, imageCount: 20 })).toBe(20);
    expect(imagesOf({ wordCount, imageCount: 0 })).toBe(0);
  });

  // contract.md G32
  it('is what each sentence of the contract says, for every combination', () => {
    fc.assert(
      fc.property(anyConfig, anyFeatures, fc.constantFrom(...runs), (config, features, run) => {
        const price = priceOf(config, features, run);
        const begun = Math.ceil(config.wordCount / 1_000);
        const images = config.imageCount ?? imagesOf(config);
        const research = config.researchEnabled && features.webResearch ? 1 : 0;
        const facts = config.researchEnabled && features.factChecking ? 3 : 0;
        const text = config.writingQuality === 'premium' ? begun * 2 : begun;
        const imageCredits = config.imageQuality === 'hd' ? images * 3 : images;
        expect(price).toEqual(
          {
            whole: {
              text,
              images: imageCredits,
              imageCount: images,
              research,
              factChecking: facts,
              total: text + imageCredits + research + facts,
            },
            outline: { text: 0, images: 0, imageCount: 0, research, factChecking: 0, total: research },
            approved: {
              text,
              images: imageCredits,
              imageCount: images,
              research: 0,
              factChecking: facts,
              total: text + imageCredits + facts,
            },
          }[run],
        );
      }),
    );
  });

  // contract.md G32
  it('of the outline and of what is approved add up to the whole, with and without questions', () => {
    fc.assert(
      fc.property(anyConfig, anyFeatures, (config, features) => {
        const [whole, outline, approved] = runs.map((run) => priceOf(config, features, run).total);
        expect((outline ?? 0) + (approved ?? 0)).toBe(whole);
        expect(priceOf({ ...config, faq: !config.faq }, features, 'whole').total).toBe(whole);
        expect(firstRun(config)).toBe(config.reviewOutline ? 'outline' : 'whole');
      }),
    );
  });

  it('is charged for what was delivered: never more than was reserved, all of it when all came', () => {
    fc.assert(
      fc.property(
        anyConfig,
        anyFeatures,
        anyDelivery,
        fc.constantFrom(...runs),
        (config, features, delivered, run) => {
          const price = priceOf(config, features, run);
          const charge = chargeOf(price, delivered, config);
          const words = config.wordCount;
          expect(Number.isInteger(charge)).toBe(true);
          expect(charge).toBeGreaterThanOrEqual(0);
          expect(charge).toBeLessThanOrEqual(price.total);
          const all = { words, images: price.imageCount, research: true, factChecking: true };
          expect(chargeOf(price, all, config)).toBe(price.total);
          const text = { words, images: 0, research: false, factChecking: false };
          expect(chargeOf(price, text, config)).toBe(price.text);
        },
      ),
    );
  });

  // contract.md G60
  it.each([
    [0, 'too short'],
    [0.1, 'too short'],
    [0.49, 'too short'],
    [0.5, 10],
    [0.51, 12],
    [0.6, 12],
    [0.75, 16],
    [0.8, 16],
    [0.89, 18],
    [0.9, 20],
    [1, 20],
    [1.15, 20],
    [2, 20],
  ])('of %d times the 10,000 premium words that were ordered is %s', (share, expected) => {
    const ordered = generationConfigSchema.parse({ topic: 'Roses', wordCount: 10_000, imageCount: 0 });
    const price = priceOf(ordered, { webResearch: false, factChecking: false }, 'whole');
    const words = share * ordered.wordCount;
    const delivered = { words, images: 0, research: false, factChecking: false };
    expect(isTooShort(words, ordered) ? 'too short' : chargeOf(price, delivered, ordered)).toBe(expected);
  });
});

// contract.md G106
describe('the charge for images', () => {
  /** Images of an article by imageCount and wordCount, from the sentences of the wire contract. */
  const COUNTS = [
    [null, 600, 2],
    [null, 1_200, 3],
    [null, 2_500, 4],
    [null, 3_000, 5],
    [0, 600, 0],
    [0, 3_000, 0],
    [1, 600, 1],
    [1, 3_000, 1],
    [20, 600, 20],
    [20, 3_000, 20],
  ] as const;
  const EACH = { standard: 1, hd: 3 } as const;
  const table = COUNTS.flatMap(([imageCount, wordCount, images]) =>
    (['standard', 'hd'] as const).map((imageQuality) => ({ imageCount, wordCount, imageQuality, images })),
  );

  it.each(table)(
    'of $imageCount at $wordCount words in $imageQuality is that of the images delivered, however many these are',
    ({ imageCount, wordCount, imageQuality, images }) => {
      const settings = { topic: 'Roses', imageCount, wordCount, imageQuality };
      const config = generationConfigSchema.parse({ ...settings, writingQuality: 'standard' });
      const price = priceOf(config, { webResearch: false, factChecking: false }, 'whole');
      const text = Math.ceil(wordCount / 1_000);
      expect(price).toMatchObject({ imageCount: images, total: text + images * EACH[imageQuality] });
      for (let delivered = 0; delivered <= images + 1; delivered += 1) {
        const charge = chargeOf(
          price,
          { words: wordCount, images: delivered, research: false, factChecking: false },
          config,
        );
        expect(charge).toBe(text + Math.min(delivered, images) * EACH[imageQuality]);
      }
    },
  );
});
