import { parseText, weighInline } from '../../../document/inline/parse.ts';
import { runsText } from '../../../document/inline/runs.ts';
import { tidy } from './bound.ts';
import { mendText } from './phrasing.ts';

/** Characters of a text on one line that are read. */
const MAX_LINE = 4_000;
const PREFIX = /^(?:#{1,6}\s+|[-*+•]\s+)/;

/** A number of a note: lines cite nothing. */
const REFERENCE = / \[\d{1,3}(?:, ?\d{1,3}){0,9}\]/g;

/** A model's text as one plain line, of several paragraphs the first: without marks, links, tags and addresses that may not stay. */
export function readLine(raw: string, addresses: ReadonlySet<string>): string {
  const [first = ''] = tidy(raw.slice(0, MAX_LINE)).split(/\n[ \t]*\n/, 1);
  const line = first.replace(/\s+/g, ' ').replace(PREFIX, '');
  const shown =
    weighInline(line).problem === null
      ? runsText(parseText(line).runs)
      : line.replace(/[[\]*_`<&\\!]+/g, ' ');
  return mendText(shown.replace(REFERENCE, ''), addresses, () => undefined)
    .replace(/\s+/g, ' ')
    .trim();
}
