import { SendFailure } from './failure.ts';

/** The status line of a response and what its headers say of redirect, body and connection. */
export interface ResponseHead {
  status: number;
  /** The Location header; null when it is missing, empty or repeated. */
  location: string | null;
  /** The Retry-After header as it came; null when it is missing or repeated. */
  retryAfter: string | null;
  /** Where the body ends: its length, or how to find it. Nothing is read of an `unknown` one. */
  framing: number | 'chunked' | 'until close' | 'unknown';
  /** How long the connection may idle after the body, in milliseconds; 0 when it can't be reused. */
  reusableMs: number;
}

/** Shorter than the idle timeout of common servers (Node closes after 5 s), so that pooled sockets are rarely dead. */
const IDLE_MS = 4_000;
/** Safety margin before the timeout promised in `Keep-Alive: timeout=N`. */
const IDLE_MARGIN_MS = 1_000;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const READ_HEADERS = new Set([
  'location',
  'retry-after',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
]);

/**
 * Parses a head, without the empty line that ends it. Invalid headers cost the connection its reuse, not the response
 * its status.
 * @param extent `cut` when the head was longer than what is read
 * @throws SendFailure when it does not begin with a status line of HTTP/1
 */
export function parseHead(text: string, extent: 'whole' | 'cut'): ResponseHead {
  const [statusLine = '', ...lines] = text.split('\r\n');
  const [, minor, digits] = STATUS_LINE.exec(statusLine) ?? [];
  if (digits === undefined) throw new SendFailure('The response is not valid HTTP.');
  const status = Number(digits);
  const headers = new Map<string, string[]>();
  let isClear = extent === 'whole';
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!HEADER_NAME.test(name)) isClear = false;
    if (!READ_HEADERS.has(name)) continue;
    const value = line.slice(colon + 1).trim();
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  }
  const location = locationOf(headers.get('location'));
  const [retryAfter = null, ...otherWaits] = headers.get('retry-after') ?? [];
  const framing = isClear ? framingOf(status, headers) : 'unknown';
  const isReusable = typeof framing === 'number' || (framing === 'chunked' && !headers.has('content-length'));
  return {
    status,
    location,
    retryAfter: otherWaits.length === 0 ? retryAfter : null,
    framing,
    reusableMs: isReusable ? idleMsOf(minor === '1', headers) : 0,
  };
}

function locationOf(values: readonly string[] = []): string | null {
  const [location = '', ...others] = values;
  if (location === '' || others.length > 0) return null;
  // Header bytes arrive as Latin-1 characters, while a URL's are UTF-8 (Fetch standard, location URL).
  return Buffer.from(location, 'latin1').toString();
}

/** RFC 9112, 6.3. */
function framingOf(status: number, headers: ReadonlyMap<string, string[]>): ResponseHead['framing'] {
  const lengths = new Set(tokensOf(headers.get('content-length')));
  const [length = '0', ...otherLengths] = lengths;
  if (otherLengths.length > 0 || !/^\d{1,15}$/.test(length)) return 'unknown';
  const codings = tokensOf(headers.get('transfer-encoding'));
  // These have no body; an announced one may follow or not.
  if (status === 204 || status === 304) return Number(length) > 0 || codings.length > 0 ? 'unknown' : 0;
  if (codings.length > 0) return codings.length === 1 && codings[0] === 'chunked' ? 'chunked' : 'until close';
  return lengths.size === 0 ? 'until close' : Number(length);
}

function idleMsOf(isHttp11: boolean, headers: ReadonlyMap<string, string[]>): number {
  const options = tokensOf(headers.get('connection'));
  if (options.includes('close') || !(isHttp11 || options.includes('keep-alive'))) return 0;
  const [, seconds] = /(?:^|[, ])timeout=(\d{1,6})\b/i.exec(headers.get('keep-alive')?.join() ?? '') ?? [];
  return seconds === undefined ? IDLE_MS : Math.max(0, Number(seconds) * 1_000 - IDLE_MARGIN_MS);
}

/** The entries of a list header, lower-case. */
function tokensOf(values: readonly string[] = []): string[] {
  if (values.length === 0) return [];
  const tokens = values.join().toLowerCase().split(',');
  return tokens.map((token) => token.trim()).filter((token) => token !== '');
}
