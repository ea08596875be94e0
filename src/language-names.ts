const names = new Intl.DisplayNames('en', { type: 'language' });

/** A language in English, by its tag: `Brazilian Portuguese`; the tag itself where it has no name. */
export const languageName = (tag: string): string => names.of(tag) ?? tag;

/** The same with the tag, for models: `Brazilian Portuguese (pt-BR)`. */
export const describeLanguage = (tag: string): string => `${languageName(tag)} (${tag})`;
