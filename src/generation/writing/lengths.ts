/** Lengths as a model is asked for them: in characters where a language's words are not written apart. */

/** Characters of a word, by `Intl.Segmenter`, in languages whose models count characters. */
const CHARACTERS_PER_WORD: Readonly<Record<string, number>> = { ja: 2, ko: 4, th: 4, yue: 2, zh: 2 };

/** Characters of so many words; null in a language that is counted in words. */
export function charactersOf(words: number, language: string): number | null {
  const perWord = CHARACTERS_PER_WORD[new Intl.Locale(language).maximize().language];
  return perWord === undefined ? null : words * perWord;
}

/** A length in words, or in characters (contract.md G70): `300 words`, `600 characters`. */
export function describeLength(words: number, language: string): string {
  const characters = charactersOf(words, language);
  return characters === null ? `${words} words` : `${characters} characters`;
}

/** The same as data: `{ words: 300 }` or `{ characters: 600 }`. */
export function lengthData(words: number, language: string): { words: number } | { characters: number } {
  const characters = charactersOf(words, language);
  return characters === null ? { words } : { characters };
}
