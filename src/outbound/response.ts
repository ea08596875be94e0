import { isAscii } from 'node:buffer';
import { type ChunkReader, createChunkReader } from './chunks.ts';
import { SendFailure } from './failure.ts';
import { parseHead, type ResponseHead } from './response-head.ts';

/** A response. The status line alone decides; the body may be cut. */
export interface HttpResponse {
  status: number;
  /** The Location header; null when it is missing, empty or repeated. */
  location: string | null;
  /** The Retry-After header as it came; null when it is missing or repeated. */
  retryAfter: string | null;
  bodyText: string;
  /** How long the connection may wait for its next request, in milliseconds; 0 when it can't be reused. */
  reusableMs: number;
}

/** Reads one response from the bytes of its connection. */
export interface ResponseReader {
  /**
   * Takes the next bytes. True when nothing more is to be read.
   * @throws SendFailure when they are not an HTTP response
   */
  read(bytes: Buffer): boolean;
  /** Whether any byte has arrived. */
  hasBegun(): boolean;
  /** Null until it is complete. */
  head(): ResponseHead | null;
  /** The response as far as it was read; null before its head is complete. */
  response(): HttpResponse | null;
}

/** Bytes of all heads of one response, informational ones included. */
const MAX_HEAD_BYTES = 64 * 1_024;
const KEPT_TEXT_BYTES = 1_024;
const HEAD_END = '\r\n\r\n';
const PROTOCOL = 'HTTP/1.';
const NO_BYTES = Buffer.alloc(0);

/**
 * Reads a response leniently for its status and strictly for its connection: an early end or an ambiguous body (RFC
 * 9112, 6.3) closes the connection. Informational responses are skipped, and the status line of an oversized head
 * counts; no client of the platform does both.
 * @param maxBodyBytes maximum bytes of the body that are read
 */
export function createResponseReader(maxBodyBytes: number): ResponseReader {
  let begun = false;
  let partOfHead = NO_BYTES;
  let partLength = 0;
  let interimBytes = 0;
  let head: ResponseHead | null = null;
  let bodyBytes = 0;
  let isWhole = false;
  let readChunks: ChunkReader | null = null;
  const kept: Buffer[] = [];
  let keptBytes = 0;

  const keep = (data: Buffer): void => {
    if (keptBytes >= KEPT_TEXT_BYTES) return;
    kept.push(data.subarray(0, KEPT_TEXT_BYTES - keptBytes));
    keptBytes += data.length;
  };

  /** Appends without copying the head for every byte of a slow receiver. */
  const append = (bytes: Buffer): Buffer => {
    if (partLength + bytes.length > partOfHead.length) {
      const larger = Buffer.allocUnsafe(2 * (partLength + bytes.length));
      partOfHead.copy(larger, 0, 0, partLength);
      partOfHead = larger;
    }
    bytes.copy(partOfHead, partLength);
    partLength += bytes.length;
    return partOfHead.subarray(0, partLength);
  };

  const readHead = (bytes: Buffer): boolean => {
    let from = Math.max(0, partLength - HEAD_END.length + 1);
    let rest = partLength === 0 ? bytes : append(bytes);
    let isFirst = true;
    for (;;) {
      const end = rest.indexOf(HEAD_END, from, 'latin1');
      if (end === -1 || interimBytes + end > MAX_HEAD_BYTES) break;
      const parsed = parseHead(rest.toString('latin1', 0, end), 'whole');
      rest = rest.subarray(end + HEAD_END.length);
      if (parsed.status >= 200) {
        head = parsed;
        return readBody(rest);
      }
      interimBytes += end + HEAD_END.length;
      from = 0;
      isFirst = false;
    }
    if (!isFirst) {
      // The rest may lie in the buffer that is appended to below.
      rest = Buffer.from(rest);
      partLength = 0;
    }
    if (!rest.toString('latin1', 0, PROTOCOL.length).startsWith(PROTOCOL.slice(0, rest.length))) {
      throw new SendFailure('The response is not valid HTTP.');
    }
    if (interimBytes + rest.length > MAX_HEAD_BYTES) {
      const part = rest.toString('latin1', 0, Math.max(0, MAX_HEAD_BYTES - interimBytes));
      const lines = part.slice(0, Math.max(0, part.lastIndexOf('\r\n')));
      const cut = lines === '' ? null : parseHead(lines, 'cut');
      if (cut === null || cut.status < 200)
        throw new SendFailure('The headers of the response are too large.');
      head = cut;
      return true;
    }
    if (partLength === 0) append(rest);
    return false;
  };

  const readBody = (bytes: Buffer): boolean => {
    if (head === null) return false;
    const before = bodyBytes;
    bodyBytes += bytes.length;
    const { framing } = head;
    if (framing === 'unknown') return true;
    if (framing === 'chunked') {
      readChunks ??= createChunkReader(keep);
      const state = readChunks(bytes);
      isWhole = state === 'whole';
      return state !== 'more' || bodyBytes >= maxBodyBytes;
    }
    keep(framing === 'until close' ? bytes : bytes.subarray(0, Math.max(0, framing - before)));
    // Bytes beyond the end belong to no request: such a connection isn't reused.
    isWhole = bodyBytes === framing;
    return (framing !== 'until close' && bodyBytes >= framing) || bodyBytes >= maxBodyBytes;
  };

  return {
    read(bytes) {
      begun = true;
      return head === null ? readHead(bytes) : readBody(bytes);
    },
    hasBegun: () => begun,
    head: () => head,
    response() {
      if (head === null) return null;
      const { status, location, retryAfter, reusableMs } = head;
      return { status, location, retryAfter, bodyText: toText(kept), reusableMs: isWhole ? reusableMs : 0 };
    },
  };
}

/** At most 1 KiB of valid UTF-8 without NULs; a character cut at the end is dropped. */
function toText(kept: readonly Buffer[]): string {
  if (kept.length === 0) return '';
  const bytes = Buffer.concat(kept);
  if (isAscii(bytes) && !bytes.includes(0)) return bytes.toString('latin1');
  const text = new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\uFFFD');
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(KEPT_TEXT_BYTES));
  return text.slice(0, read);
}
