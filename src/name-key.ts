/**
 * The comparison key of a name, of categories in one language and of roles: Unicode case folding. Lower case first, so
 * that ẞ equals ß, then upper, so that ß equals SS and both sigmas are equal. The Turkish ı is kept: upper case would
 * turn it into I, which is another letter. Normalised again, since case mapping can decompose a character. Migrations
 * 0009 and 0014 made the stored keys the same way.
 */
export const nameKey = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .split('ı')
    .map((part) => part.toUpperCase().toLowerCase())
    .join('ı')
    .normalize('NFC');
