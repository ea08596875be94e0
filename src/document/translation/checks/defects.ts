/** What can be wrong with a translated text. The codes are answered by the API: they can be added, not renamed. */
export const DEFECT_CODES = [
  'missing',
  'refused',
  'empty',
  'characters',
  'markup',
  'tags',
  'nesting',
  'length',
  'numbers',
  'units',
  'chatter',
  'echo',
  'language',
  'script',
  'limit',
  'glossary',
] as const;

export type DefectCode = (typeof DEFECT_CODES)[number];

/** A defect of a translated segment, worded so that a model can fix it. */
export interface Defect {
  readonly code: DefectCode;
  readonly message: string;
  /** A soft defect is worth asking again once, but the text is usable. */
  readonly soft: boolean;
  /** The text is not in its language: it is not charged for. */
  readonly untranslated?: true;
}

export const hard = (code: DefectCode, message: string): Defect => ({ code, message, soft: false });
export const soft = (code: DefectCode, message: string): Defect => ({ code, message, soft: true });

/** A soft one of a text that is in another language, or script. */
export const untranslated = (code: DefectCode, message: string): Defect => ({
  ...soft(code, message),
  untranslated: true,
});

/** A text as it stands in a message: short, and on one line. */
export const quoted = (text: string): string => {
  const line = text.trim().replace(/\s+/g, ' ');
  return `"${[...line].length > 40 ? `${[...line].slice(0, 39).join('')}…` : line}"`;
};
