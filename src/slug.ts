import { randomInt } from 'node:crypto';
import { transliterate } from 'transliteration';

const MAX_LENGTH = 120;
const READABLE = /[\p{Script=Latin}0-9]/u;

/**
 * Letters that transliteration could only guess at, by pronunciation and language: Japanese names would read as Chinese
 * ones.
 */
const NOT_LATIN = /(?![\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}])[\p{L}\p{M}]+/gu;

/**
 * The URL-safe form of a name: its Latin letters and digits in lower case, joined by hyphens, at most 120 characters.
 * `fallback` replaces a name without any (contract.md C6).
 */
export function slugify(name: string, fallback: 'article' | 'category'): string {
  if (!READABLE.test(name)) return fallback;
  const slug = transliterate(name.normalize('NFC').replace(NOT_LATIN, ' '))
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? fallback : slug;
}

/** The slug of a title with a Latin letter, else null: digits alone say nothing. */
export function namedSlug(title: string): string | null {
  const slug = slugify(title, 'article');
  return /\p{Script=Latin}/u.test(title) && /[a-z]/.test(slug) ? slug : null;
}

/**
 * The base of a translation's slug: its title's, or without a Latin letter the source's slug with the language behind it
 * (contract.md V37).
 */
export const slugOfTranslation = (title: string, source: string, language: string): string =>
  namedSlug(title) ?? suffixed(source, language.toLowerCase());

/** `base` with a suffix, cut so that both fit. */
function suffixed(base: string, end: string): string {
  const suffix = `-${end}`;
  return `${base.slice(0, MAX_LENGTH - suffix.length).replace(/-+$/, '')}${suffix}`;
}

const numbered = (base: string, number: number): string => suffixed(base, String(number));

/** Numbers tried one by one. */
const MAX_LINEAR = 32;
/** Slugs per look-up. */
const SLUGS_PER_LOOKUP = 64;
/** The highest power of two tried. */
const MAX_POWER = 2 ** 40;

/**
 * A free slug: `base`, or the lowest free number up to 32; beyond that a free number after a taken one, which is the
 * lowest if there are no gaps. A few look-ups, however many have the same title.
 * @param takenOf which of the given slugs are taken
 */
export async function findFreeSlug(
  base: string,
  takenOf: (slugs: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string> {
  const near = [base];
  for (let number = 2; number <= MAX_LINEAR; number += 1) near.push(numbered(base, number));
  const taken = await takenOf(near);
  const free = near.find((slug) => !taken.has(slug));
  if (free !== undefined) return free;
  // `low` is taken and `high` is free.
  let low = MAX_LINEAR;
  let high = MAX_POWER * 2 + randomInt(MAX_POWER);
  for (let step = MAX_LINEAR; high - low > 1; step = Math.ceil((high - low) / SLUGS_PER_LOOKUP)) {
    const numbers: number[] = [];
    if (low === MAX_LINEAR && step === MAX_LINEAR)
      for (let power = MAX_LINEAR * 2; power <= MAX_POWER; power *= 2) numbers.push(power);
    else for (let number = low + step; number < high; number += step) numbers.push(number);
    const found = await takenOf(numbers.map((number) => numbered(base, number)));
    for (const number of numbers) {
      if (!found.has(numbered(base, number))) {
        high = number;
        break;
      }
      low = number;
    }
  }
  return numbered(base, high);
}
