import type { GenerationConfig } from './config.ts';

/** Words of wordCount that are priced together; begun ones count. */
const WORDS_PER_STEP = 1_000;
const TEXT_CREDITS = { standard: 1, premium: 2 } as const;
const IMAGE_CREDITS = { standard: 1, hd: 3 } as const;
const RESEARCH_CREDITS = 1;
const FACT_CHECKING_CREDITS = 3;

/** What the deployment can do besides writing. What it cannot do is not in the price. */
export interface GenerationFeatures {
  readonly webResearch: boolean;
  readonly factChecking: boolean;
}

/**
 * What is priced: `whole` from the topic to the article, `outline` the run that ends with the outline, `approved`
 * the one that goes on from it.
 */
export type PricedRun = 'whole' | 'outline' | 'approved';

/** The most that a run can cost, in credits, and the images that it makes. */
export interface GenerationPrice {
  readonly text: number;
  readonly images: number;
  readonly imageCount: number;
  readonly research: number;
  readonly factChecking: number;
  readonly total: number;
}

/** What a run has delivered besides the text. */
export interface Delivered {
  readonly images: number;
  readonly research: boolean;
  readonly factChecking: boolean;
}

/** Images of an article, its cover included. */
export function imagesOf({
  imageCount,
  wordCount,
}: Pick<GenerationConfig, 'imageCount' | 'wordCount'>): number {
  if (imageCount !== null) return imageCount;
  if (wordCount < 1_000) return 2;
  if (wordCount < 2_000) return 3;
  return wordCount < 3_000 ? 4 : 5;
}

/** The run that these settings start. */
export const firstRun = ({ reviewOutline }: Pick<GenerationConfig, 'reviewOutline'>): PricedRun =>
  reviewOutline ? 'outline' : 'whole';

/** The most that the run can cost: what is quoted and reserved (contract.md G32). */
export function priceOf(
  config: GenerationConfig,
  features: GenerationFeatures,
  run: PricedRun,
): GenerationPrice {
  const writes = run !== 'outline';
  const imageCount = writes ? imagesOf(config) : 0;
  const text = writes
    ? Math.ceil(config.wordCount / WORDS_PER_STEP) * TEXT_CREDITS[config.writingQuality]
    : 0;
  const images = imageCount * IMAGE_CREDITS[config.imageQuality];
  const researches = config.researchEnabled && features.webResearch && run !== 'approved';
  const checksFacts = config.researchEnabled && features.factChecking && writes;
  const research = researches ? RESEARCH_CREDITS : 0;
  const factChecking = checksFacts ? FACT_CHECKING_CREDITS : 0;
  return { text, images, imageCount, research, factChecking, total: text + images + research + factChecking };
}

/** What is charged of a price: the text, and whatever else was delivered. */
export function chargeOf(price: GenerationPrice, delivered: Delivered): number {
  const perImage = price.imageCount === 0 ? 0 : price.images / price.imageCount;
  return (
    price.text +
    Math.min(delivered.images, price.imageCount) * perImage +
    (delivered.research ? price.research : 0) +
    (delivered.factChecking ? price.factChecking : 0)
  );
}
