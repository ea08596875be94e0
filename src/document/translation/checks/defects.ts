import { firstCodePoints } from '../../text/characters.ts';

/** Defects of a translated text. The codes are part of the API: they can be added, not renamed. */
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
  'breaks',
  'spaces',
  'references',
] as const;

export type DefectCode = (typeof DEFECT_CODES)[number];

/** A defect of a translated segment, worded so that a model can fix it. */
export interface Defect {
  readonly code: DefectCode;
  readonly message: string;
  /** A soft defect is worth one repair; the text is usable. */
  readonly soft: boolean;
  /** The text is not in the target language and is not charged. */
  readonly untranslated?: true;
}

export const hard = (code: DefectCode, message: string): Defect => ({ code, message, soft: false });
export const soft = (code: DefectCode, message: string): Defect => ({ code, message, soft: true });

/** A soft defect of a text in the wrong language or script. */
export const untranslated = (code: DefectCode, message: string): Defect => ({
  ...soft(code, message),
  untranslated: true,
});

/** A text quoted in a message: on one line, of at most so many characters. */
export const quoted = (text: string, most = 40): string => {
  const line = text.trim().replace(/\s+/g, ' ');
  const isWhole = firstCodePoints(line, most).length === line.length;
  return `"${isWhole ? line : `${firstCodePoints(line, most - 1)}…`}"`;
};
