import { regenerationArea } from '../assets/regenerate/area.ts';
import type { Config } from '../config.ts';
import { generationArea } from '../generation/area.ts';
import type { GenerationFeatures } from '../generation/price.ts';
import type { JobAreas } from '../jobs/start.ts';
import { refreshArea, translationArea } from '../translations/area.ts';

/** The areas whose jobs this release runs, by purpose. */
export const jobAreas: JobAreas = {
  translate: translationArea,
  refresh: refreshArea,
  generate: generationArea,
  outline: generationArea,
  image: regenerationArea,
};

/** What generations have besides writing, as the deployment is configured. */
export const generationFeatures = (
  config: Pick<Config, 'WEB_RESEARCH' | 'FACT_CHECKING'>,
): GenerationFeatures => ({ webResearch: config.WEB_RESEARCH, factChecking: config.FACT_CHECKING });
