/** The fetch of an image model's client: bounded, and guarded where a response names another address. */
import { MAX_IMAGE_BYTES } from '../../blobs/asset.ts';
import { parseReceiverUrl } from '../../outbound/address-guard.ts';
import { startDeadline } from '../../outbound/deadline.ts';
import { SendFailure } from '../../outbound/failure.ts';
import { guardedGet } from '../../outbound/guarded-get.ts';
import type { AddressGuard } from '../../outbound/resolver.ts';
import { readBounded } from '../http.ts';
import { ProviderError } from '../types.ts';

/** An image in base64, and room for the rest of the JSON. */
const MAX_JSON_BYTES = Math.ceil((MAX_IMAGE_BYTES * 4) / 3) + 1024 * 1024;
const WITHOUT_BODY = [204, 205, 304];

export interface BoundedFetchOptions {
  /** Where the model is. Addresses of its origin are fetched as they are, all others through the guard. */
  readonly baseUrl: string;
  readonly guard: AddressGuard;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called once the model has responded, whatever its status. */
  readonly onResponse: () => void;
}

/**
 * A fetch for one call. What it refuses it throws as a ProviderError: `refused` for a list without an image, `unusable` for
 * more bytes than an image may have, and for an address that it does not fetch.
 */
export function createBoundedFetch(options: BoundedFetchOptions): typeof fetch {
  const { origin } = new URL(options.baseUrl);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (init?.method === 'POST') {
      const response = await fetch(url, { ...init, redirect: 'error' });
      const bytes = await readBounded(response, MAX_JSON_BYTES, tooLarge);
      options.onResponse();
      return rebuilt(response.status, response.headers, response.ok ? firstImage(bytes) : bytes);
    }
    if (url.origin !== origin) return getGuarded(url, options);
    const response = await fetch(url, init);
    return rebuilt(response.status, response.headers, await readBounded(response, MAX_IMAGE_BYTES, tooLarge));
  };
}

const rebuilt = (status: number, headers: Headers, bytes: Uint8Array<ArrayBuffer>): Response =>
  new Response(WITHOUT_BODY.includes(status) ? null : bytes, { status, headers });

const unusable = (problem: string): ProviderError =>
  new ProviderError('unusable', `The image model sent no usable image: ${problem}`);

const tooLarge = (): ProviderError => unusable(`it is larger than ${MAX_IMAGE_BYTES} bytes.`);

/**
 * The JSON of a response with one image at most: the client would fetch the addresses of all.
 * @throws {ProviderError} `refused` when there is none: silent moderation
 */
function firstImage(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const data = listIn(bytes);
  if (data === null) return bytes;
  const images = data.filter(hasImage);
  const [first] = images;
  if (first === undefined) throw new ProviderError('refused', 'The image model returned no image.');
  return data.length === 1 ? bytes : Buffer.from(JSON.stringify({ data: [first] }));
}

/** The list of images; null of a text that has none, which the client refuses. */
function listIn(bytes: Uint8Array): readonly unknown[] | null {
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : null;
    return Array.isArray(data) ? data : null;
  } catch {
    return null;
  }
}

/** A slot that was filtered is null, or has neither. */
function hasImage(slot: unknown): boolean {
  const { b64_json, url } = (slot ?? {}) as Record<string, unknown>;
  return [b64_json, url].some((text) => typeof text === 'string' && text !== '');
}

async function getGuarded(url: URL, { guard, timeoutMs, signal }: BoundedFetchOptions): Promise<Response> {
  const verdict = parseReceiverUrl(url.href);
  if (!verdict.ok) throw unusable(verdict.reason);
  const deadline = startDeadline(timeoutMs, signal);
  try {
    const request = { guard, deadline, accept: 'image/*', maxBytes: MAX_IMAGE_BYTES };
    const response = await guardedGet(verdict.url, request);
    try {
      const headers = new Headers();
      const { location } = response.headers;
      // The client follows it, hop by hop, through this fetch.
      if (location !== undefined) headers.set('location', location);
      return rebuilt(response.status, headers, Buffer.from(await response.readBody()));
    } finally {
      response.close();
    }
  } catch (error) {
    if (error instanceof SendFailure) throw unusable(error.message);
    throw error;
  } finally {
    deadline.clear();
  }
}
