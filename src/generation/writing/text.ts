/** Reads a model's texts into runs, and finds what an article may not contain. */

import { MAX_TEXT } from '../../document/format/schema.ts';
import { serializeInline } from '../../document/inline/markdown.ts';
import { parseText, weighInline } from '../../document/inline/parse.ts';
import { type InlineRun, runsText } from '../../document/inline/runs.ts';
import { findAddress } from './addresses.ts';
import type { Defect, DefectCode } from './brief.ts';

/** Characters of a text with several paragraphs. */
const MAX_RAW = 10 * MAX_TEXT;
/** Characters of a model's text that a defect quotes. */
const MAX_GIVEN = 80;

/** A defect with an excerpt of the text, kept apart from our own words. */
export const about = (code: DefectCode, problem: string, given: string): Defect => ({
  code,
  problem,
  given: [...given.slice(0, MAX_GIVEN * 2)].slice(0, MAX_GIVEN).join(''),
});

const tooLong = (raw: string): Defect => about('length', `A text has more than ${MAX_TEXT} characters.`, raw);

/** A text field of a block. */
export interface Field {
  readonly text: string;
  readonly format?: 'markdown';
}

/** A paragraph. `plain` is its visible text. */
export interface ReadText {
  readonly runs: readonly InlineRun[];
  readonly plain: string;
}

/** Block Markdown inside a text: such content needs a block of its own, or is not allowed. */
const BLOCK_MARKDOWN: readonly (readonly [RegExp, string])[] = [
  [/^ {0,3}#{1,6}(?:\s|$)/m, 'A text has a Markdown heading. Use a heading block.'],
  [/^ {0,3}(?:`{3}|~{3})/m, 'A text has a code fence. Use inline code only.'],
  [/^ {0,3}(?:[-*+•]|\d{1,3}[.)])\s+\S/m, 'A text has a Markdown list. Use a list block.'],
  [/^ {0,3}>\s?\S/m, 'A text has a Markdown quote. Use a quote block.'],
  [/^ {0,3}(?:=+|(?:[-*_][ \t]*){3,})$/m, 'A text has a horizontal rule. Horizontal rules are not allowed.'],
  [/^[ \t]*\|.*\|[ \t]*$/m, 'A text has a Markdown table. Use a table block.'],
];

/** Markdown beyond the inline subset, as it remains in the parsed text. */
const INLINE_MARKDOWN =
  /~~\S|!?\[[^[\]\n]{0,200}\]\([^()\n]{0,500}\)|\[\^[^[\]\s]{1,50}\]|\[[^[\]\n]{1,200}\]\[[^[\]\n]{0,50}\]|^[ \t]*\[[^[\]\n]{1,200}\]:\s/m;
const HTML = /<\/?[a-z][a-z0-9-]{0,20}(?:\s[^<>]{0,500})?\/?>|<!--/i;

/** What models say about their output instead of writing the article. */
const CHATTER = [
  /^(?:sure|certainly|of course|absolutely|great|okay|ok|got it|no problem)\s*[!,.:–—-]+\s*(?:here|i\b|let me|below|this)/i,
  /^(?:sure|certainly|of course|absolutely|natürlich|gerne|bien sûr|certainement|claro|por supuesto|certo|конечно)\s*!/iu,
  /^(?:here(?:'|’)s|here is|here are|below is) (?:the|your|an?|my) (?:\w+ ){0,3}(?:section|article|text|draft|outline|answer|paragraph|rewrite|version|revision|content|json)\b/i,
  /^(?:hier ist|hier sind|voici|aquí (?:está|tienes)|ecco|aqui está)\b.{0,60}(?:abschnitt|artikel|text|section|article|texte|sección|artículo|texto|sezione|articolo|testo|seção|artigo)\b/iu,
  /\bas an? (?:ai|artificial intelligence|large language model|language model)\b(?: (?:language )?(?:model|assistant))?,? i\b/i,
  /\b(?:als (?:eine )?ki(?:-\p{L}+)?|en tant qu['’]ia|como (?:una )?ia|como modelo de (?:lenguaje|linguagem)|in quanto ia|als sprachmodell),? (?:kann|habe|bin|je|no|não|puedo|non|posso)\b/iu,
  /\bi(?:'|’)?m (?:sorry|unable)\b.{0,40}\b(?:can(?:'|’)t|cannot|assist|help|comply|write)\b/i,
  /\b(?:i hope this helps|let me know if you(?:'|’)?d? (?:need|want|would|have)|feel free to ask)\b/i,
  /^(?:\(?word count|\(?words|note to (?:the )?(?:editor|author)|\[?end of (?:section|article))\s*[:)\]]/i,
  /\[(?:insert|your|todo|placeholder)\b[^\]]{0,80}\]/i,
  /\blorem ipsum\b/i,
];

/** Removes characters that a database or a page cannot show. */
export const tidy = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028\u2029\ufeff\ufffd]+/g, ' ')
    .trim();

/** Rules for texts. */
export interface TextRules {
  /** Host names that are allowed as text. */
  readonly hosts: ReadonlySet<string>;
  /** The customer's own words: phrases in them are not chatter. */
  readonly said: string;
}

/** Splits a text into paragraphs at blank lines, and finds their defects. */
export function readParagraphs(raw: string, rules: TextRules): { texts: ReadText[]; defects: Defect[] } {
  const texts: ReadText[] = [];
  const defects: Defect[] = [];
  if (raw.length > MAX_RAW) return { texts, defects: [tooLong(raw)] };
  for (const paragraph of tidy(raw).split(/\n[ \t]*\n/)) {
    if (paragraph.trim() === '') continue;
    const read = readText(paragraph, rules);
    defects.push(...read.defects);
    if (read.text !== null) texts.push(read.text);
  }
  return { texts, defects };
}

/** Reads one text without line breaks, and finds its defects. */
export function readText(raw: string, rules: TextRules): { text: ReadText | null; defects: Defect[] } {
  // Some checks take more than linear time, so the length is bounded first.
  if (raw.length > MAX_TEXT) return { text: null, defects: [tooLong(raw)] };
  const tidied = tidy(raw);
  const defects: Defect[] = [];
  for (const [pattern, problem] of BLOCK_MARKDOWN) {
    if (pattern.test(tidied)) defects.push(about('markdown', problem, tidied));
  }
  const line = tidied
    .split('\n')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
  const { problem } = weighInline(line);
  if (problem !== null) defects.push(about('markdown', `A text ${problem}.`, line));
  if (defects.length > 0) return { text: null, defects };
  const { runs } = parseText(line);
  const plain = runsText(runs);
  const bad = defectOf(runs, plain, rules);
  return { text: { runs, plain }, defects: bad === null ? [] : [bad] };
}

function defectOf(runs: readonly InlineRun[], plain: string, { hosts, said }: TextRules): Defect | null {
  const linked = runs.find(({ link }) => link !== null);
  if (linked !== undefined) {
    return about(
      'link',
      'A text has a link. Links are allowed to listed articles only, in `links`.',
      linked.text,
    );
  }
  for (const run of runs) {
    const address = findAddress(run.text, run.kind === 'code', hosts);
    if (address !== null)
      return about('address', 'A text has a web or e-mail address. Leave it out.', address);
  }
  const prose = runs.map(({ kind, text }) => (kind === 'code' ? ' ' : text)).join('');
  if (HTML.test(prose)) return about('markdown', 'A text has HTML. Write it without tags.', plain);
  if (INLINE_MARKDOWN.test(prose)) {
    return about('markdown', 'A text has Markdown other than bold, italic and inline code.', plain);
  }
  if (CHATTER.some((pattern) => pattern.test(prose) && !pattern.test(said))) {
    return about(
      'chatter',
      'A text speaks about the answer or its writer. Write nothing but the article.',
      plain,
    );
  }
  return null;
}

/** The text as a field of a block. */
export const toField = ({ runs, plain }: ReadText, format: 'plain' | 'markdown'): Field =>
  format === 'plain' ? { text: plain } : { text: serializeInline(runs), format };
