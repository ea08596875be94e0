/** Translations in the wrong script. */
import { type Defect, hard, soft, untranslated } from './defects.ts';

/** Unicode scripts of locale codes that combine several. */
const SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  Jpan: ['Han', 'Hiragana', 'Katakana'],
  Hans: ['Han', 'Bopomofo'],
  Hant: ['Han', 'Bopomofo'],
  Kore: ['Hangul', 'Han'],
};

const LETTER = /\p{L}/u;
const COMMON = /[\p{Script=Common}\p{Script=Inherited}]/u;
const LATIN = /\p{Script=Latin}/u;
/** Fewer letters of a foreign script may be a name or sign. */
const LEAST_FOREIGN = 2;
/** From this many letters, a text needs this share of its own script. */
const WHOLE = { letters: 24, share: 0.25 } as const;

const known = new Map<string, RegExp | null>();

/** Matches a letter of a language's script; null when the script is unknown. */
export function scriptOf(language: string): RegExp | null {
  const before = known.get(language);
  if (before !== undefined) return before;
  const script = new Intl.Locale(language).maximize().script;
  let pattern: RegExp | null = null;
  try {
    const names = script === undefined ? [] : (SCRIPTS[script] ?? [script]);
    pattern =
      names.length === 0 ? null : new RegExp(`[${names.map((name) => `\\p{Script=${name}}`).join('')}]`, 'u');
  } catch {
    // Unicode names the script differently.
  }
  if (known.size > 200) known.clear();
  known.set(language, pattern);
  return pattern;
}

const lettersOf = (text: string): string[] =>
  [...text].filter((character) => LETTER.test(character) && !COMMON.test(character));

/** Checks the script of a translation; both texts without markup. */
export function checkScript(source: string, translated: string, targetLanguage: string): Defect[] {
  const script = scriptOf(targetLanguage);
  if (script === null) return [];
  const letters = lettersOf(translated);
  const right = letters.filter((letter) => script.test(letter)).length;
  const there = new Set(lettersOf(source));
  const foreign = letters.filter(
    (letter) => !script.test(letter) && !LATIN.test(letter) && !there.has(letter),
  );
  const isEnough = letters.length >= WHOLE.letters;
  if (isEnough && foreign.length > letters.length * (1 - WHOLE.share)) {
    return [hard('script', 'the translation is not written in the script of its language')];
  }
  if (isEnough && right < letters.length * WHOLE.share) {
    return [untranslated('script', 'the translation is not written in the script of its language')];
  }
  if (foreign.length >= LEAST_FOREIGN) {
    const what = [...new Set(foreign)].slice(0, 10).join('');
    return [soft('script', `the translation has letters of another script: ${what}`)];
  }
  return onlyHan(translated, targetLanguage);
}

/** Chinese for Japanese and Japanese for Chinese. */
function onlyHan(text: string, language: string): Defect[] {
  const kana = text.match(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const isJapanese = new Intl.Locale(language).language === 'ja';
  return isJapanese && han >= WHOLE.letters && kana === 0
    ? [untranslated('script', 'the translation has no kana: it is not Japanese')]
    : [];
}
