import { randomInt } from 'node:crypto';
import { transliterate } from 'transliteration';

const MAX_LENGTH = 120;
const READABLE = /[\p{Script=Latin}0-9]/u;

/**
 * Letters and their marks that transliteration would turn into a guess at their pronunciation, and at the language:
 * Japanese names would read as Chinese ones.
 */
const GUESSED = /(?![\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}])[\p{L}\p{M}]+/gu;

/**
 * The URL-safe form of a name: its Latin letters and digits in lower case, joined by hyphens, at most 120
 * characters. `fallback` stands in for a name without any (contract.md C6).
 */
export function slugify(name: string, fallback: 'article' | 'category'): string {
  if (!READABLE.test(name)) return fallback;
  const slug = transliterate(name.normalize('NFC').replace(GUESSED, ' '))
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? fallback : slug;
}

/** `base` with a number, cut so that both fit. */
function numbered(base: string, number: number): string {
  const suffix = `-${number}`;
  return `${base.slice(0, MAX_LENGTH - suffix.length).replace(/-+$/, '')}${suffix}`;
}

/** Numbers that are tried one by one. */
const NEAR = 32;
/** Slugs of one look-up. */
const AT_ONCE = 64;
/** The highest power of two that is tried. */
const HIGHEST = 2 ** 40;

/**
 * A slug that is not taken: `base`, or the lowest number up to 32; beyond that some number above a taken one, which is the
 * lowest where none is left out. A few look-ups, however many have the same title.
 * @param takenOf which of the given slugs are taken
 */
export async function findFreeSlug(
  base: string,
  takenOf: (slugs: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string> {
  const near = [base];
  for (let number = 2; number <= NEAR; number += 1) near.push(numbered(base, number));
  const taken = await takenOf(near);
  const free = near.find((slug) => !taken.has(slug));
  if (free !== undefined) return free;
  // `low` is taken and `high` is free.
  let low = NEAR;
  let high = HIGHEST * 2 + randomInt(HIGHEST);
  for (let step = NEAR; high - low > 1; step = Math.ceil((high - low) / AT_ONCE)) {
    const numbers: number[] = [];
    if (low === NEAR && step === NEAR)
      for (let power = NEAR * 2; power <= HIGHEST; power *= 2) numbers.push(power);
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
