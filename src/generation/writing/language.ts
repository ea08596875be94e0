/** Texts in a writing that their language does not have. */
import type { Block } from '../../document/format/schema.ts';
import { collectTexts } from '../../document/format/walk.ts';
import { about } from './text.ts';
import type { ArticleWriter, Defect } from './writer.ts';

/** Unicode's scripts behind the codes of locales that stand for several. */
const SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  Jpan: ['Han', 'Hiragana', 'Katakana'],
  Hans: ['Han', 'Bopomofo'],
  Hant: ['Han', 'Bopomofo'],
  Kore: ['Hangul', 'Han'],
};

/** The share of its own writing that a text needs: names stay as they are. */
const LEAST_SHARE = 0.25;
/** Letters from which on a text is judged, and one that is whole sentences in a writing that names are rarely left in. */
const LEAST_LETTERS = 20;
const LEAST_FOREIGN = 8;

/** Matches a letter of the writing of a language; null for one that nobody knows a writing of. */
function scriptOf(language: string): RegExp | null {
  const script = new Intl.Locale(language).maximize().script;
  if (script === undefined) return null;
  try {
    const names = SCRIPTS[script] ?? [script];
    return new RegExp(`[${names.map((name) => `\\p{Script=${name}}`).join('')}]`, 'gu');
  } catch {
    return null;
  }
}

const lettersIn = (text: string, kind: RegExp): number => text.match(kind)?.length ?? 0;

/**
 * What is wrong with the language of a text; null when nothing is. The pseudo writer has one language only.
 * @param quoted true where words of another language may be what the text is about: in lists and tables
 */
export function textDefect(
  writer: ArticleWriter,
  text: string,
  language: string,
  quoted = false,
): Defect | null {
  const script = writer.name === 'pseudo' ? null : scriptOf(language);
  if (script === null) return null;
  const letters = lettersIn(text, /(?![\p{Script=Common}\p{Script=Inherited}])\p{L}/gu);
  if (lettersIn(text, script) >= letters * LEAST_SHARE) return null;
  const isLatin = lettersIn(text, /\p{Script=Latin}/gu) * 2 > letters;
  if (letters < (quoted || isLatin ? LEAST_LETTERS : LEAST_FOREIGN)) return null;
  return about('language', `A text is not in ${language}.`, text);
}

/** The same for all texts of blocks, one by one. */
export function languageDefect(
  writer: ArticleWriter,
  blocks: readonly Block[],
  language: string,
): Defect | null {
  for (const { text, kind } of collectTexts({ version: 1, blocks: [...blocks] })) {
    const defect = textDefect(writer, text, language, kind === 'listItem' || kind === 'tableCell');
    if (defect !== null) return defect;
  }
  return null;
}
