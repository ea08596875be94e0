import type { GenerationConfig } from './config.ts';

/** Words per price step, rounded up. */
const WORDS_PER_STEP = 1_000;
const TEXT_CREDITS = { standard: 1, premium: 2 } as const;
const IMAGE_CREDITS = { standard: 1, hd: 3 } as const;
const RESEARCH_CREDITS = 1;
const FACT_CHECKING_CREDITS = 3;
/** Shares of wordCount: what counts as all of it, and the least that is charged. */
const WHOLE_DELIVERED = 0.9;
const LEAST_DELIVERED = 0.5;

/** Features of the deployment besides writing. The price includes only available ones. */
export interface GenerationFeatures {
  readonly webResearch: boolean;
  readonly factChecking: boolean;
}

/**
 * Priced runs: `whole` from topic to article, `outline` up to the outline, `approved` from the outline to the article.
 */
export type PricedRun = 'whole' | 'outline' | 'approved';

/** Maximum price of a run in credits, and its number of images. */
export interface GenerationPrice {
  readonly text: number;
  readonly images: number;
  readonly imageCount: number;
  readonly research: number;
  readonly factChecking: number;
  readonly total: number;
}

/** Deliveries of a run. */
export interface Delivered {
  /** Words of the text, code included. */
  readonly words: number;
  readonly images: number;
  readonly research: boolean;
  readonly factChecking: boolean;
}

/** Number of images of an article, cover included. */
export function imagesOf({
  imageCount,
  wordCount,
}: Pick<GenerationConfig, 'imageCount' | 'wordCount'>): number {
  if (imageCount !== null) return imageCount;
  if (wordCount < 1_000) return 2;
  if (wordCount < 2_000) return 3;
  return wordCount < 3_000 ? 4 : 5;
}

/** The first run with these settings. */
export const firstRun = ({ reviewOutline }: Pick<GenerationConfig, 'reviewOutline'>): PricedRun =>
  reviewOutline ? 'outline' : 'whole';

/** The price of one image. */
export const imageCredits = (quality: GenerationConfig['imageQuality']): number => IMAGE_CREDITS[quality];

/** Maximum price of a run, which is quoted and reserved (contract.md G32). */
export function priceOf(
  config: GenerationConfig,
  features: GenerationFeatures,
  run: PricedRun,
): GenerationPrice {
  const writes = run !== 'outline';
  const imageCount = writes ? imagesOf(config) : 0;
  const text = writes ? textCredits(config.wordCount, config) : 0;
  const images = imageCount * imageCredits(config.imageQuality);
  const researches = config.researchEnabled && features.webResearch && run !== 'approved';
  const checksFacts = config.researchEnabled && features.factChecking && writes;
  const research = researches ? RESEARCH_CREDITS : 0;
  const factChecking = checksFacts ? FACT_CHECKING_CREDITS : 0;
  return { text, images, imageCount, research, factChecking, total: text + images + research + factChecking };
}

const textCredits = (words: number, { writingQuality }: Pick<GenerationConfig, 'writingQuality'>): number =>
  Math.ceil(words / WORDS_PER_STEP) * TEXT_CREDITS[writingQuality];

type Ordered = Pick<GenerationConfig, 'wordCount' | 'writingQuality'>;

/** The fewest words that can be sold. */
export const fewestWords = ({ wordCount }: Pick<Ordered, 'wordCount'>): number => wordCount * LEAST_DELIVERED;

/** True of a text that is too short to be sold: below half of what was ordered (contract.md G60). */
export const isTooShort = (words: number, ordered: Ordered): boolean => words < fewestWords(ordered);

/** The charge for a text: its price, or for less than nine tenths of wordCount that of the words delivered. */
const chargeForText = (price: GenerationPrice, words: number, ordered: Ordered): number =>
  words >= ordered.wordCount * WHOLE_DELIVERED
    ? price.text
    : Math.min(price.text, textCredits(words, ordered));

/** The charge: what was delivered, at most its price (contract.md G60). */
export function chargeOf(price: GenerationPrice, delivered: Delivered, ordered: Ordered): number {
  const perImage = price.imageCount === 0 ? 0 : price.images / price.imageCount;
  return (
    chargeForText(price, delivered.words, ordered) +
    Math.min(delivered.images, price.imageCount) * perImage +
    (delivered.research ? price.research : 0) +
    (delivered.factChecking ? price.factChecking : 0)
  );
}
