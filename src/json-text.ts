import { randomUUID } from 'node:crypto';

/** An unguessable placeholder for JSON text until the whole document is written. */
const MARK = `json-text ${randomUUID()} `;
let collected: string[] | undefined;

/** JSON that is already text, such as a jsonb column: `writeJson` inserts it unparsed. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Use `writeJson`: plain JSON.stringify parses it, which is correct but slow. */
  toJSON(): unknown {
    if (collected === undefined) return JSON.parse(this.text);
    return `${MARK}${collected.push(this.text) - 1}`;
  }
}

/** The value as JSON; JSON text in it is inserted as it is. */
export function writeJson(value: unknown): string {
  const texts: string[] = [];
  collected = texts;
  let json: string;
  try {
    json = JSON.stringify(value);
  } finally {
    collected = undefined;
  }
  if (texts.length === 0) return json;
  const parts: string[] = [];
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const mark = `"${MARK}${index}"`;
    const start = json.indexOf(mark, at);
    parts.push(json.slice(at, start), text);
    at = start + mark.length;
  }
  parts.push(json.slice(at));
  return parts.join('');
}
