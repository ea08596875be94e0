/** The style sheet of a version: what is decided once, so that all of its texts and all of its jobs agree. */

export type Formality = 'formal' | 'informal';

/** A recurring term of an article and its translation. */
export interface TermPair {
  readonly source: string;
  readonly target: string;
}

/** The pairs of a sheet. */
export const MAX_TERMS = 100;
/** Characters of each side of a pair. */
export const MAX_TERM_CHARACTERS = 60;

interface Address {
  readonly formality: Formality;
  /** The languages that have it; all when absent. */
  readonly languages?: readonly string[];
}

/** How readers are addressed. */
const ADDRESS_FORMS = {
  formal: { formality: 'formal' },
  informal: { formality: 'informal' },
  impersonal: { formality: 'formal' },
  du: { formality: 'informal', languages: ['de', 'da', 'sv', 'nb', 'no'] },
  ihr: { formality: 'informal', languages: ['de'] },
  Sie: { formality: 'formal', languages: ['de'] },
  tu: { formality: 'informal', languages: ['fr', 'it', 'pt', 'ca', 'ro'] },
  vous: { formality: 'formal', languages: ['fr'] },
  tú: { formality: 'informal', languages: ['es'] },
  vos: { formality: 'informal', languages: ['es'] },
  vosotros: { formality: 'informal', languages: ['es'] },
  usted: { formality: 'formal', languages: ['es'] },
  ustedes: { formality: 'formal', languages: ['es'] },
  Lei: { formality: 'formal', languages: ['it'] },
  voi: { formality: 'formal', languages: ['it'] },
  você: { formality: 'informal', languages: ['pt'] },
  'o senhor': { formality: 'formal', languages: ['pt'] },
  je: { formality: 'informal', languages: ['nl'] },
  u: { formality: 'formal', languages: ['nl'] },
  ty: { formality: 'informal', languages: ['pl', 'cs', 'sk'] },
  'Pan/Pani': { formality: 'formal', languages: ['pl'] },
  vy: { formality: 'formal', languages: ['cs', 'sk'] },
  ты: { formality: 'informal', languages: ['ru'] },
  вы: { formality: 'formal', languages: ['ru'] },
  'です・ます': { formality: 'formal', languages: ['ja'] },
  'だ・である': { formality: 'informal', languages: ['ja'] },
  합니다: { formality: 'formal', languages: ['ko'] },
  해요: { formality: 'informal', languages: ['ko'] },
} as const satisfies Readonly<Record<string, Address>>;

export type AddressForm = keyof typeof ADDRESS_FORMS;

/** The varieties of a language that a tag without script and region leaves open. */
const LANGUAGE_VARIANTS = {
  de: ['de-DE', 'de-AT', 'de-CH'],
  en: ['en-US', 'en-GB'],
  es: ['es-ES', 'es-419', 'es-MX'],
  fr: ['fr-FR', 'fr-CA', 'fr-CH'],
  nl: ['nl-NL', 'nl-BE'],
  pt: ['pt-BR', 'pt-PT'],
  sr: ['sr-Cyrl', 'sr-Latn'],
  zh: ['zh-Hans', 'zh-Hant'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type LanguageVariant = (typeof LANGUAGE_VARIANTS)[keyof typeof LANGUAGE_VARIANTS][number];

/** Every value of each decision. */
export const SHEET_VALUES = {
  address: Object.keys(ADDRESS_FORMS) as AddressForm[],
  /** Words for the reader and for persons of unknown gender. */
  gender: ['neutral', 'paired', 'masculine', 'feminine'],
  quotes: ['„…“', '„…”', '“…”', '”…”', '‘…’', '"…"', '«…»', '« … »', '»…«', '「…」', '『…』'],
  numbers: ['1.234,5', '1 234,5', '1,234.5', '1’234.5', '1’234,5', '12,34,567.8'],
  dates: [
    '31.12.2026',
    '31/12/2026',
    '31-12-2026',
    '12/31/2026',
    '2026-12-31',
    '2026/12/31',
    '2026. 12. 31.',
    '2026年12月31日',
  ],
  /** Of headings and titles. */
  titleCase: ['sentence', 'title'],
  variant: Object.values(LANGUAGE_VARIANTS).flat() as LanguageVariant[],
} as const;

/** A decision of a sheet. */
export type Decision = keyof typeof SHEET_VALUES;
export const DECISIONS = Object.keys(SHEET_VALUES) as Decision[];

/** The decisions of a sheet; null means the usual form in the language. */
export type SheetStyle = { readonly [Name in Decision]: (typeof SHEET_VALUES)[Name][number] | null };

/** The decisions and the version's own terms. */
export interface StyleSheet extends SheetStyle {
  readonly terms: readonly TermPair[];
}

/** The values of a decision that a language can have. */
export function valuesFor(decision: Decision, language: string): readonly string[] {
  const base = new Intl.Locale(language);
  if (decision === 'address') {
    return SHEET_VALUES.address.filter((form) => {
      const { languages }: Address = ADDRESS_FORMS[form];
      return languages?.includes(base.language) ?? true;
    });
  }
  if (decision === 'variant') {
    const isOpen = base.script === undefined && base.region === undefined;
    const variants: Readonly<Record<string, readonly string[]>> = LANGUAGE_VARIANTS;
    return isOpen ? (variants[base.language] ?? []) : [];
  }
  return SHEET_VALUES[decision];
}

/** The decisions in what a model sent: a value that the language cannot have counts as none. */
export function readDecisions(sent: Readonly<Record<string, unknown>>, language: string): SheetStyle {
  const read = DECISIONS.map((decision) => {
    const value = Object.hasOwn(sent, decision) ? sent[decision] : null;
    const isKnown = typeof value === 'string' && valuesFor(decision, language).includes(value);
    return [decision, isKnown ? value : null];
  });
  return Object.fromEntries(read) as SheetStyle;
}

export const formalityOf = (form: AddressForm): Formality => ADDRESS_FORMS[form].formality;

/**
 * How readers are addressed (contract.md V48): the project's formality wins over the sheet, and without either the formal
 * address counts. A form of the sheet that has the project's formality stays.
 */
export function addressOf({
  style,
  sheet,
}: {
  readonly style: { readonly formality: Formality | null } | null;
  readonly sheet: StyleSheet | null;
}): AddressForm {
  const formality = style?.formality ?? null;
  const form = sheet?.address ?? null;
  if (formality === null) return form ?? 'formal';
  return form !== null && formalityOf(form) === formality ? form : formality;
}

/**
 * The earlier sheet with terms of a later job: its decisions and its terms stay, and new ones are added up to `MAX_TERMS`.
 */
export function addTerms<Sheet extends StyleSheet>(sheet: Sheet, terms: readonly TermPair[]): Sheet {
  const known = new Set(sheet.terms.map(({ source }) => foldTerm(source)));
  const added = terms.filter(({ source }) => !known.has(foldTerm(source)));
  return { ...sheet, terms: [...sheet.terms, ...added].slice(0, MAX_TERMS) };
}

/** The key by which terms are compared. */
export const foldTerm = (text: string): string => text.normalize('NFC').toLowerCase();

/** True for words without markup, line breaks and quotes. An apostrophe within a word is allowed. */
export const isTerm = (text: string): boolean =>
  text.length <= MAX_TERM_CHARACTERS &&
  /\p{L}/u.test(text) &&
  !/[<>\p{C}\p{Zl}\p{Zp}"`“”„‟«»‹›「」『』〝〞]|(?<!\p{L})['’‘‚‛]|['’‘‚‛](?!\p{L})/u.test(text);
