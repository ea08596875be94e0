/** Bounds of an outline that a model makes: it is no way to have text written (contract.md G62). */
import { cutAtWord } from '../../document/text/characters.ts';
import { codePoints } from '../../fields.ts';
import type { OutlineSection } from '../outline.ts';

/** Characters of a heading, of a purpose and of a keyword, and keywords of a section. */
export const MAX_PLANNED_HEADING = 120;
const MAX_PLANNED_PURPOSE = 300;
const MAX_PLANNED_KEYWORD = 60;
const MAX_PLANNED_KEYWORDS = 5;
/** Characters of all sections: so many for each word that was ordered, and at most. */
const CHARACTERS_PER_WORD = 40;
const MAX_PLANNED = 12_000;

/** The sections with texts within the bounds; each has an equal part of all characters. @param words of the body */
export function fitSections(sections: readonly OutlineSection[], words: number): OutlineSection[] {
  const all = Math.min(MAX_PLANNED, words * CHARACTERS_PER_WORD);
  const each = Math.floor(all / Math.max(1, sections.length));
  return sections.map((section) => {
    const heading = cutAtWord(section.heading, MAX_PLANNED_HEADING);
    const forPurpose = Math.max(1, Math.min(MAX_PLANNED_PURPOSE, each - codePoints(heading)));
    const purpose = cutAtWord(section.purpose, forPurpose);
    let left = each - codePoints(heading) - codePoints(purpose);
    const keywords: string[] = [];
    for (const keyword of section.keywords.slice(0, MAX_PLANNED_KEYWORDS)) {
      const kept = cutAtWord(keyword, MAX_PLANNED_KEYWORD);
      left -= codePoints(kept);
      if (left < 0) break;
      keywords.push(kept);
    }
    return { ...section, heading, purpose, keywords };
  });
}
