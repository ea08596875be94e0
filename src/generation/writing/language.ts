/** Finds texts in another language than the article's. */
import type { Block } from '../../document/format/schema.ts';
import { collectTexts } from '../../document/format/walk.ts';
import { languageInstead } from '../../document/translation/checks/language.ts';
import { scriptOf } from '../../document/translation/checks/script.ts';
import { languageName } from '../../language-names.ts';
import type { Defect } from './brief.ts';
import { excerpt } from './defects.ts';
import type { ArticleWriter } from './writer.ts';

/** Share of letters that must be in the language's script; the rest may be names. */
const MIN_SHARE = 0.25;
/** Fewest letters for the script check. Names are rarely left in a script other than Latin, so fewer suffice there. */
const MIN_LETTERS = 20;
const MIN_LETTERS_NON_LATIN = 8;
/** For one text and for a whole part: fewest letters for language detection, and the lead that another language needs. */
const DETECTION = { text: { letters: 200, ahead: 0.1 }, part: { letters: 400, ahead: 0.05 } } as const;
const LETTER = /(?![\p{Script=Common}\p{Script=Inherited}])\p{L}/gu;

const lettersIn = (text: string, kind: RegExp): number => text.match(kind)?.length ?? 0;

/** The pseudo writer writes English only, and its text is not meant to be read. */
const hasOneLanguage = ({ name }: ArticleWriter): boolean => name === 'pseudo';

/**
 * The language defect of a text; null without one.
 * @param quoted true for lists and tables, which may be about words of another language
 */
export function textDefect(
  writer: ArticleWriter,
  text: string,
  language: string,
  quoted = false,
): Defect | null {
  if (hasOneLanguage(writer)) return null;
  const isForeign = isInAnotherScript(text, language, quoted) || isInstead(text, language, DETECTION.text);
  return isForeign ? excerpt('language', `A text is not in ${languageName(language)}.`, text) : null;
}

function isInAnotherScript(text: string, language: string, quoted: boolean): boolean {
  const script = scriptOf(language);
  if (script === null) return false;
  const letters = lettersIn(text, LETTER);
  const isLatin = lettersIn(text, /\p{Script=Latin}/gu) * 2 > letters;
  const min = quoted || isLatin ? MIN_LETTERS : MIN_LETTERS_NON_LATIN;
  return letters >= min && lettersIn(text, new RegExp(script, 'gu')) < letters * MIN_SHARE;
}

const isInstead = (
  text: string,
  language: string,
  { letters, ahead }: (typeof DETECTION)['text' | 'part'],
): boolean => lettersIn(text, LETTER) >= letters && languageInstead(text, language, ahead) !== null;

/** The same for all texts of the blocks, one by one and together. */
export function languageDefect(
  writer: ArticleWriter,
  blocks: readonly Block[],
  language: string,
): Defect | null {
  const texts = collectTexts({ version: 1, blocks: [...blocks] });
  for (const { text, kind } of texts) {
    const defect = textDefect(writer, text, language, kind === 'listItem' || kind === 'tableCell');
    if (defect !== null) return defect;
  }
  const all = texts.map(({ text }) => text).join('\n');
  return !hasOneLanguage(writer) && isInstead(all, language, DETECTION.part)
    ? excerpt('language', `The text is not in ${languageName(language)}.`, all)
    : null;
}
