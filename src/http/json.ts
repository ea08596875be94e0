import { invalid } from '../errors.ts';

/** Maximum nesting of a body, far above the deepest shape of the interface. */
export const MAX_DEPTH = 32;
/** Maximum values in a body, objects and arrays included. */
export const MAX_VALUES = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;

const isOpener = (byte: number): boolean => byte === 0x5b || byte === 0x7b;
const isCloser = (byte: number): boolean => byte === 0x5d || byte === 0x7d;

/** The index of the quote that ends the string whose first character is at `start`, or of the end of the text. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  for (; at < bytes.length && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
  return at;
}

/** A number of this many characters without an exponent cannot overflow a double. */
const SAFE_NUMBER_LENGTH = 300;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isExponent = (byte: number): boolean => byte === 0x65 || byte === 0x45;

/**
 * Counts levels and values in the text, before anything is built from it. Invalid JSON is counted at least up to where
 * a parser stops.
 * @returns whether a number may overflow a double
 * @throws {ServiceError} INVALID_REQUEST above MAX_DEPTH or MAX_VALUES
 */
function assertBounded(bytes: Uint8Array): boolean {
  let depth = 0;
  let values = 1;
  let justOpened = false;
  let separator = 0;
  let mayOverflow = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE || byte === COLON) {
      separator = at;
    } else if (isCloser(byte)) {
      depth -= 1;
      justOpened = false;
      separator = at;
    } else {
      // A container holds one value more than it has commas, unless it is empty.
      if (justOpened || byte === COMMA) values += 1;
      justOpened = isOpener(byte);
      if (justOpened) depth += 1;
      if (depth > MAX_DEPTH) throw invalid('', `The body is nested deeper than ${MAX_DEPTH} levels.`);
      if (values > MAX_VALUES) throw invalid('', `The body holds more than ${MAX_VALUES} values.`);
      if (byte === QUOTE) at = endOfString(bytes, at + 1);
      if (byte === QUOTE || byte === COMMA || justOpened) separator = at;
      else if (at - separator > SAFE_NUMBER_LENGTH || (isExponent(byte) && isDigit(bytes[at - 1])))
        mayOverflow = true;
    }
  }
  return mayOverflow;
}

/** Postgres stores no NUL, and a lone surrogate has no UTF-8 form. */
export const hasUnsafeCharacters = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** A JSON pointer (RFC 6901) of the path. */
export const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

type Path = (string | number)[];

function assertSafeValue(value: unknown, key: string | number, path: Path): void {
  if (typeof value === 'string') {
    if (!hasUnsafeCharacters(value)) return;
    throw invalid(pointerTo([...path, key]), 'NUL characters and lone surrogates are not allowed.');
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw invalid(pointerTo([...path, key]), 'The number is out of range.');
  } else if (typeof value === 'object' && value !== null) {
    path.push(key);
    assertSafeMembers(value, path);
    path.pop();
  }
}

function assertSafeMembers(holder: object, path: Path): void {
  if (Array.isArray(holder)) {
    for (let index = 0; index < holder.length; index += 1) assertSafeValue(holder[index], index, path);
    return;
  }
  const members = holder as Record<string, unknown>;
  for (const key in members) {
    if (key === '__proto__') {
      Reflect.deleteProperty(members, key);
      continue;
    }
    if (hasUnsafeCharacters(key)) {
      throw invalid(pointerTo(path), 'NUL characters and lone surrogates are not allowed in names.');
    }
    assertSafeValue(members[key], key, path);
  }
}

/**
 * Parses JSON in linear time. Refuses valid JSON that the service cannot store: NUL characters and lone surrogates in
 * strings and names, numbers that overflow a double. Drops properties named `__proto__`, so that no later copy of the
 * value can reach a prototype.
 * @throws {ServiceError} INVALID_REQUEST, naming the field where there is one
 */
export function readJson(bytes: Uint8Array): unknown {
  const mayOverflow = assertBounded(bytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('', 'The body is not valid UTF-8.');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('', 'The body is not valid JSON.');
  }
  // Valid UTF-8 has no surrogates, and JSON no bare NUL: either can only be written as an escape.
  const mayBeUnsafe = mayOverflow || text.includes('\\u') || text.includes('__proto__');
  if (mayBeUnsafe && typeof value === 'object' && value !== null) assertSafeMembers(value, []);
  return value;
}
