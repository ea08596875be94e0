/**
 * What two names are compared by, of categories in one language and of roles: their case folded as Unicode does.
 * Lower case first, so that ẞ meets ß, then upper, so that ß meets SS and both sigmas meet. Upper case would make an i
 * of the Turkish ı, which is another letter: it stays. Normalised again, for case mapping can take a character apart.
 * Migrations 0009 and 0014 made the stored keys the same way.
 */
export const nameKey = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .split('ı')
    .map((part) => part.toUpperCase().toLowerCase())
    .join('ı')
    .normalize('NFC');
