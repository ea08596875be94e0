import { firstCodePoints } from '../../document/text/characters.ts';
import type { Defect, DefectCode } from './brief.ts';

/** Characters of a model's text that a defect quotes. */
const MAX_GIVEN = 80;

/** A defect with an excerpt of the text, kept apart from our own words. */
export const excerpt = (code: DefectCode, problem: string, given: string): Defect => ({
  code,
  problem,
  given: firstCodePoints(given, MAX_GIVEN),
});
