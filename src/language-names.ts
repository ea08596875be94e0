const names = new Intl.DisplayNames('en', { type: 'language' });

/**
 * Language, script, region and a registered variant of a canonical tag. Other variants, extensions and private use are
 * words that customers choose: a model must not read them as part of its instructions. Chinese gets its script, which
 * its regions imply.
 */
function plainTag(tag: string): string {
  const locale = new Intl.Locale(tag);
  const { language, region } = locale;
  const script =
    locale.script ?? (language === 'zh' && region !== undefined ? locale.maximize().script : undefined);
  const base = [language, script, region].filter((part) => part !== undefined).join('-');
  const [subtags = ''] = tag.split(/-[a-z0-9]-/i);
  const variant = subtags.split('-').find((part) => isVariant(part) && isRegistered(base, part));
  return variant === undefined ? base : `${base}-${variant}`;
}

const isVariant = (subtag: string): boolean => /^(?:[a-z0-9]{5,8}|\d[a-z0-9]{3})$/i.test(subtag);

/** True for a variant that has a name: others are named by their own letters. */
function isRegistered(base: string, variant: string): boolean {
  const name = names.of(`${base}-${variant}`) ?? '';
  return name.endsWith(')') && !/(?:\(|, )([^(),]*)\)$/.exec(name)?.[1]?.match(/^[A-Z0-9_]+$/);
}

const nameOf = (plain: string): string => names.of(plain) ?? plain;

/** A language in English, by its canonical tag: `Brazilian Portuguese`; the plain tag where it has no name. */
export const languageName = (tag: string): string => nameOf(plainTag(tag));

/** The language's name with its plain tag, for models (contract.md V43): `Brazilian Portuguese (pt-BR)`. */
export function describeLanguage(tag: string): string {
  const plain = plainTag(tag);
  return `${nameOf(plain)} (${plain})`;
}

/** True for tags of one language in one script: `en` and `en-GB`; false for `zh-Hans` and `zh-Hant`. */
export function sharesWriting(one: string, other: string): boolean {
  const [a, b] = [new Intl.Locale(one).maximize(), new Intl.Locale(other).maximize()];
  return a.language === b.language && a.script === b.script;
}
