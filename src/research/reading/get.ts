/** One guarded GET of a stranger's server. */
import type { IncomingHttpHeaders } from 'node:http';
import { BLOCKED_ADDRESS_MESSAGE, parseReceiverUrl } from '../../outbound/address-guard.ts';
import type { Deadline } from '../../outbound/deadline.ts';
import { describeNetworkError, SendFailure } from '../../outbound/failure.ts';
import { type GuardedResponse, guardedGet } from '../../outbound/guarded-get.ts';
import type { AddressGuard } from '../../outbound/resolver.ts';
import { type PageRefusal, ROBOTS_TOKEN } from './page.ts';

const USER_AGENT = `${ROBOTS_TOKEN}/1.0`;

/** A page or file that is not used. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: PageRefusal;

  constructor(refusal: PageRefusal) {
    super(refusal);
    this.refusal = refusal;
  }
}

/** Status and headers. Names of headers are in lower case. */
export interface Head {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

export interface Got extends Head {
  /** Empty unless it was wanted. */
  readonly body: Uint8Array;
}

export interface GetOptions {
  /** Which addresses may be dialled for this URL. */
  readonly guardOf: (url: URL) => AddressGuard;
  readonly deadline: Deadline;
  readonly accept: string;
  /** Bytes of a body. */
  readonly maxBytes: number;
  /** A larger body is refused, or cut. */
  readonly beyond: 'refuse' | 'cut';
  /** Decides by the head whether the body is read. @throws {Refused} */
  readonly wants: (head: Head) => boolean;
}

/** Checks the form of an address and takes off its fragment. @throws {Refused} */
export function pageUrl(text: string): URL {
  const verdict = parseReceiverUrl(text);
  if (!verdict.ok) throw new Refused('invalid address');
  verdict.url.hash = '';
  return verdict.url;
}

const isRedirect = ({ status, headers }: Head): boolean =>
  [301, 302, 303, 307, 308].includes(status) && headers.location !== undefined;

/**
 * Gets a URL, following redirects, each of which passes `before` and the guard as the first one does (contract.md N5).
 * @param before called with each URL before it is dialled. @throws {Refused}
 * @throws {Refused}; the reason of the deadline's caller
 */
export async function getFollowing(
  first: URL,
  options: GetOptions & { readonly maxRedirects: number; readonly before?: (url: URL) => Promise<void> },
): Promise<Got & { readonly url: URL }> {
  let url = first;
  for (let redirects = 0; ; redirects += 1) {
    await options.before?.(url);
    const got = await getOnce(url, options);
    if (!isRedirect(got)) return { ...got, url };
    if (redirects === options.maxRedirects) throw new Refused('too many redirects');
    url = pageUrl(URL.parse(got.headers.location ?? '', url.href)?.href ?? '');
  }
}

async function getOnce(url: URL, options: GetOptions): Promise<Got> {
  const { guardOf, deadline, accept, maxBytes } = options;
  try {
    const request = { guard: guardOf(url), deadline, accept, userAgent: USER_AGENT, maxBytes };
    const response = await guardedGet(url, request);
    try {
      const head = { status: response.status, headers: response.headers };
      const isWanted = !isRedirect(head) && options.wants(head);
      const body = isWanted ? await deadline.race(readBody(response, options)) : new Uint8Array();
      return { ...head, body };
    } finally {
      response.close();
    }
  } catch (error) {
    if (!(error instanceof SendFailure)) throw error;
    throw new Refused(error.message === BLOCKED_ADDRESS_MESSAGE ? 'not a public address' : 'no response');
  }
}

async function readBody(
  { headers, chunks: body }: GuardedResponse,
  { maxBytes, beyond }: GetOptions,
): Promise<Uint8Array> {
  if (beyond === 'refuse' && Number(headers['content-length'] ?? 0) > maxBytes) {
    throw new Refused('too large');
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes && beyond === 'refuse') throw new Refused('too large');
      chunks.push(chunk);
      if (size >= maxBytes && beyond === 'cut') break;
    }
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new SendFailure(describeNetworkError(error));
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
