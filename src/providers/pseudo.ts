import type { TranslationProvider } from './types.ts';

const PLAIN = 'ABCDEFGHIJKLMNOPQRSTUVWYZabcdefghijklmnopqrstuvwyz';
const ACCENTED = 'ÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖṔǪŔŠŢÛṼŴÝŽåƀçðéƒĝĥîĵķļṁñöṕǫŕšţûṽŵýž';
const ACCENTS: ReadonlyMap<string, string> = new Map(
  [...PLAIN].map((letter, index) => [letter, [...ACCENTED][index] ?? letter]),
);

/** Tags and character references of the protected form, which are not changed. */
const MARKUP = /<[^<>]*>|&(?:#\d+|#x[\da-f]+|[a-z]+);/gi;

/**
 * The offline default: pseudo-localisation. Latin letters get accents and every text is wrapped in `⟦…⟧`, so that it is
 * readable, clearly not a translation, and different from its source in any script. Deterministic.
 */
export function createPseudoProvider(): TranslationProvider {
  return {
    name: 'pseudo',
    async translate({ segments, signal }) {
      signal.throwIfAborted();
      return new Map(segments.map(({ id, text }) => [id, pseudoLocalize(text)]));
    },
  };
}

/** Pseudo-localises a text in protected form. */
export function pseudoLocalize(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const match of text.matchAll(MARKUP)) {
    parts.push(accent(text.slice(at, match.index)), match[0]);
    at = match.index + match[0].length;
  }
  parts.push(accent(text.slice(at)));
  return `⟦${parts.join('')}⟧`;
}

function accent(text: string): string {
  return text.replace(/[A-Za-z]/g, (letter) => ACCENTS.get(letter) ?? letter);
}
