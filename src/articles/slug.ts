import { transliterate } from 'transliteration';

const MAX_LENGTH = 120;
const READABLE = /[\p{Script=Latin}0-9]/u;

/**
 * The URL-safe form of a name: lower-case Latin letters and digits joined by hyphens, at most 120
 * characters. `fallback` stands in for a name without any Latin letter or digit, which transliteration
 * would turn into a guess at its pronunciation (interface.md, Category name).
 */
export function slugify(name: string, fallback: 'article' | 'category'): string {
  if (!READABLE.test(name)) return fallback;
  const slug = transliterate(name)
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? fallback : slug;
}

/** `base`, or `base` with the lowest number from 2 that is not taken: `name`, `name-2`, `name-3` … */
export function freeSlug(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base;
  for (let number = 2; ; number += 1) {
    const suffix = `-${number}`;
    const slug = `${base.slice(0, MAX_LENGTH - suffix.length).replace(/-+$/, '')}${suffix}`;
    if (!taken.has(slug)) return slug;
  }
}
