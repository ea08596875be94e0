import { regenerationArea } from '../assets/regenerate/area.ts';
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

/** Features of generations besides writing: none yet, whatever their settings. */
export const generationFeatures: GenerationFeatures = { webResearch: false, factChecking: false };
