/** Texts in another language than the article's. */
import type { Block } from '../../document/format/schema.ts';
import { collectTexts } from '../../document/format/walk.ts';
import { languageInstead } from '../../document/translation/checks/language.ts';
import { scriptOf } from '../../document/translation/checks/script.ts';
import { languageName } from '../../language-names.ts';
import { about } from './text.ts';
import type { ArticleWriter, Defect } from './writer.ts';

/** The share of its own writing that a text needs: names stay as they are. */
const LEAST_SHARE = 0.25;
/** Letters from which on a text is judged, and one that is whole sentences in a writing that names are rarely left in. */
const LEAST_LETTERS = 20;
const LEAST_FOREIGN = 8;
/**
 * Letters from which on a language is told for sure, of one text and of all texts of a part, and what another language
 * must be ahead by.
 */
const TOLD = { text: { letters: 200, ahead: 0.1 }, part: { letters: 400, ahead: 0.05 } } as const;
const LETTER = /(?![\p{Script=Common}\p{Script=Inherited}])\p{L}/gu;

const lettersIn = (text: string, kind: RegExp): number => text.match(kind)?.length ?? 0;

/** A writer with one language only, which nobody takes for an article. */
const hasOneLanguage = ({ name }: ArticleWriter): boolean => name === 'pseudo';

/**
 * What is wrong with the language of a text; null when nothing is.
 * @param quoted true where words of another language may be what the text is about: in lists and tables
 */
export function textDefect(
  writer: ArticleWriter,
  text: string,
  language: string,
  quoted = false,
): Defect | null {
  if (hasOneLanguage(writer)) return null;
  const isForeign = isInAnotherScript(text, language, quoted) || isInstead(text, language, TOLD.text);
  return isForeign ? about('language', `A text is not in ${languageName(language)}.`, text) : null;
}

function isInAnotherScript(text: string, language: string, quoted: boolean): boolean {
  const script = scriptOf(language);
  if (script === null) return false;
  const letters = lettersIn(text, LETTER);
  const isLatin = lettersIn(text, /\p{Script=Latin}/gu) * 2 > letters;
  const least = quoted || isLatin ? LEAST_LETTERS : LEAST_FOREIGN;
  return letters >= least && lettersIn(text, new RegExp(script, 'gu')) < letters * LEAST_SHARE;
}

const isInstead = (
  text: string,
  language: string,
  { letters, ahead }: (typeof TOLD)['text' | 'part'],
): boolean => lettersIn(text, LETTER) >= letters && languageInstead(text, language, ahead) !== null;

/** The same for all texts of blocks, one by one and together. */
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
  return !hasOneLanguage(writer) && isInstead(all, language, TOLD.part)
    ? about('language', `The text is not in ${languageName(language)}.`, all)
    : null;
}
