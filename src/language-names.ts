const names = new Intl.DisplayNames('en', { type: 'language' });

/**
 * Language, script and region of a canonical tag. Its variants, extensions and private use are words that customers
 * choose: a model must not read them as part of its instructions.
 */
function plainTag(tag: string): string {
  const { language, script, region } = new Intl.Locale(tag);
  return [language, script, region].filter((part) => part !== undefined).join('-');
}

const nameOf = (plain: string): string => names.of(plain) ?? plain;

/** A language in English, by its canonical tag: `Brazilian Portuguese`; the plain tag where it has no name. */
export const languageName = (tag: string): string => nameOf(plainTag(tag));

/** The language's name with its plain tag, for models: `Brazilian Portuguese (pt-BR)`. */
export function describeLanguage(tag: string): string {
  const plain = plainTag(tag);
  return `${nameOf(plain)} (${plain})`;
}
