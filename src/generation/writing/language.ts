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

/** Letters from which on one text is judged, and the share of its own writing that it needs: names stay as they are. */
const LEAST_LETTERS = 20;
const LEAST_SHARE = 0.25;

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

/** What is wrong with the language of a text; null when nothing is. The pseudo writer has one language only. */
export function textDefect(writer: ArticleWriter, text: string, language: string): Defect | null {
  const script = writer.name === 'pseudo' ? null : scriptOf(language);
  if (script === null) return null;
  const letters = text.match(/(?![\p{Script=Common}\p{Script=Inherited}])\p{L}/gu)?.length ?? 0;
  const own = text.match(script)?.length ?? 0;
  if (letters < LEAST_LETTERS || own >= letters * LEAST_SHARE) return null;
  return about(`A text is not in ${language}.`, text);
}

/** The same for all texts of blocks, one by one. */
export function languageDefect(
  writer: ArticleWriter,
  blocks: readonly Block[],
  language: string,
): Defect | null {
  for (const { text } of collectTexts({ version: 1, blocks: [...blocks] })) {
    const defect = textDefect(writer, text, language);
    if (defect !== null) return defect;
  }
  return null;
}
