/** Translations in the wrong script. */
import type { LanguagePair } from '../figures.ts';
import { ONLY_SIMPLIFIED, ONLY_TRADITIONAL } from './chinese.ts';
import { type Defect, hard, soft, untranslated } from './defects.ts';
import { perLanguage } from './per-language.ts';
import { baseLanguage } from './text.ts';

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

/** Languages that are written in either of two scripts, when their tag names none. */
const EITHER: Readonly<Record<string, readonly string[]>> = {
  bs: ['Latn', 'Cyrl'],
  pa: ['Guru', 'Arab'],
  sr: ['Cyrl', 'Latn'],
  uz: ['Latn', 'Cyrl'],
};

/** Matches a letter of a language's script, or of either of its scripts; null when the script is unknown. */
export const scriptOf = perLanguage((language): RegExp | null => {
  const locale = new Intl.Locale(language);
  const { script } = locale.maximize();
  const scripts = (locale.script === undefined ? EITHER[locale.language] : undefined) ?? [script ?? ''];
  const names = scripts.flatMap((code) => SCRIPTS[code] ?? [code]);
  try {
    return new RegExp(`[${names.map((name) => `\\p{Script=${name}}`).join('')}]`, 'u');
  } catch {
    // Unicode names the script differently.
    return null;
  }
});

const lettersOf = (text: string): string[] =>
  [...text].filter((character) => LETTER.test(character) && !COMMON.test(character));

/** Checks the script of a translation (contract.md V42); both texts without markup. */
export function checkScript(source: string, translated: string, languages: LanguagePair): Defect[] {
  const { targetLanguage } = languages;
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
  return baseLanguage(targetLanguage) === 'zh'
    ? otherChinese(source, translated, languages)
    : onlyHan(translated, targetLanguage);
}

/** Simplified characters in Traditional Chinese, or Traditional ones in Simplified Chinese. */
function otherChinese(source: string, translated: string, languages: LanguagePair): Defect[] {
  const isTraditional = new Intl.Locale(languages.targetLanguage).maximize().script === 'Hant';
  const [own, other] = isTraditional
    ? [ONLY_TRADITIONAL, ONLY_SIMPLIFIED]
    : [ONLY_SIMPLIFIED, ONLY_TRADITIONAL];
  // Names that a Japanese text writes so may stay; Chinese is converted whole.
  const named = new Set(baseLanguage(languages.sourceLanguage) === 'zh' ? '' : source);
  const characters = [...translated];
  const wrong = characters.filter((character) => other.has(character) && !named.has(character));
  const right = characters.filter((character) => own.has(character)).length;
  const wanted = isTraditional ? 'Traditional' : 'Simplified';
  if (wrong.length === 0) return [];
  if (wrong.length >= right) return [untranslated('script', `the translation is not in ${wanted} Chinese`)];
  const what = [...new Set(wrong)].slice(0, 10).join('');
  return [soft('script', `write these characters in ${wanted} Chinese: ${what}`)];
}

/** Chinese for Japanese and Japanese for Chinese. */
function onlyHan(text: string, language: string): Defect[] {
  const kana = text.match(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const isJapanese = baseLanguage(language) === 'ja';
  return isJapanese && han >= WHOLE.letters && kana === 0
    ? [untranslated('script', 'the translation has no kana: it is not Japanese')]
    : [];
}
