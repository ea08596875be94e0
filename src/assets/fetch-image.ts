import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import path from 'node:path';
import { IMAGE_MEDIA_TYPES, MAX_FILE_NAME, MAX_IMAGE_BYTES } from '../blobs/asset.ts';
import { codePoints } from '../document/text/characters.ts';
import { invalid, ServiceError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import {
  BLOCKED_ADDRESS_MESSAGE,
  classifyAddress,
  hostOf,
  parseReceiverUrl,
} from '../outbound/address-guard.ts';
import { type Deadline, startDeadline } from '../outbound/deadline.ts';
import { dial } from '../outbound/dial.ts';
import { describeNetworkError, SendFailure } from '../outbound/failure.ts';
import type { AddressGuard } from '../outbound/resolver.ts';
import { type NewImage, readImage } from './image.ts';

/** An image fetched from a URL. */
export interface FetchedImage {
  readonly image: NewImage;
  /** The last part of the path. */
  readonly fileName: string;
}

/**
 * Fetches an image and passes it to `use`. The memory for its bytes is reserved until `use` ends.
 * @param owner the workspace whose share of the memory it takes
 * @throws {ServiceError} INVALID_REQUEST for `/url`, saying why the image could not be fetched; SERVICE_UNAVAILABLE when too
 *   many are being fetched
 */
export type FetchImage = <Result>(
  owner: string,
  url: string,
  use: (image: FetchedImage) => Promise<Result>,
) => Promise<Result>;

const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 15_000;
/** Memory for images that are being fetched, in bytes; one workspace gets as much as the largest image. */
const ROOM = { total: 3 * MAX_IMAGE_BYTES, perOwner: MAX_IMAGE_BYTES, maxWaiting: 16 };
/** Longest wait for memory. */
const ROOM_WAIT_MS = 10_000;
const FAILED = 'The image could not be fetched';
const UNRESOLVED = 'The host name of the URL could not be resolved.';

const busy = (): ServiceError =>
  new ServiceError('SERVICE_UNAVAILABLE', 'Too many images are being fetched. Try again shortly.');

const tooLarge = (maxBytes: number): SendFailure => new SendFailure(`It is larger than ${maxBytes} bytes.`);

const isPublicAddress = (ip: string): boolean => classifyAddress(ip) === 'allowed';

/** One fetch, with its hops so far. */
interface Fetch {
  readonly deadline: Deadline;
  /** Waits for memory. */
  readonly take: (bytes: number) => Promise<void>;
  /** Whether a hop led into an allowed private network. */
  isPrivate: boolean;
}

/**
 * Creates the fetcher of images by URL. Like webhooks it connects only to addresses that the guard allows, for the URL and
 * for each of at most three redirects. Gives up after 15 seconds in all or 20 MiB. A response with Content-Length reserves
 * that much memory, any other the maximum. Where a hop leads into an allowed private network every failure has the same
 * words, so that nobody explores it (contract.md F30).
 */
export function createImageFetcher({
  guard,
  timeoutMs = TIMEOUT_MS,
  maxBytes = MAX_IMAGE_BYTES,
  roomWaitMs = ROOM_WAIT_MS,
  isPublic = isPublicAddress,
}: {
  guard: AddressGuard;
  isPublic?: (ip: string) => boolean;
  timeoutMs?: number;
  maxBytes?: number;
  roomWaitMs?: number;
}): FetchImage {
  const room = createFairQueue({ ...ROOM, refusal: busy });

  async function open(url: URL, fetch: Fetch): Promise<Socket> {
    const { deadline } = fetch;
    const resolution = await deadline.race(guard.resolve(hostOf(url)));
    if (resolution.kind === 'blocked') throw new SendFailure(BLOCKED_ADDRESS_MESSAGE);
    if (resolution.kind === 'unresolved') throw new SendFailure(UNRESOLVED);
    if (!resolution.addresses.every(isPublic)) fetch.isPrivate = true;
    return dial(url, resolution.addresses, { guard, signal: deadline.signal });
  }

  async function follow(text: string, fetch: Fetch): Promise<FetchedImage> {
    const { deadline, take } = fetch;
    let next = text;
    for (let redirects = 0; ; redirects += 1) {
      const verdict = parseReceiverUrl(next);
      if (!verdict.ok) throw new SendFailure(verdict.reason);
      const { url } = verdict;
      const socket = await open(url, fetch);
      try {
        const response = await deadline.race(get(url, socket));
        const status = response.statusCode ?? 0;
        const { location } = response.headers;
        if (status >= 300 && status <= 399 && location !== undefined && redirects < MAX_REDIRECTS) {
          next = URL.parse(location, url.href)?.href ?? '';
          continue;
        }
        if (status !== 200) throw new SendFailure(`The URL responded with ${status}.`);
        const declared = Number(response.headers['content-length'] ?? maxBytes);
        if (declared > maxBytes) throw tooLarge(maxBytes);
        // Nothing is read from the connection meanwhile.
        await deadline.raceUncounted(take(Math.max(1, declared)));
        const bytes = await deadline.race(readBody(response, maxBytes));
        return { image: await readImage(bytes, '/url'), fileName: fileNameOf(url) };
      } finally {
        socket.destroy();
      }
    }
  }

  return async (owner, text, use) => {
    const deadline = startDeadline(timeoutMs);
    let release: (() => void) | undefined;
    const take = async (amount: number): Promise<void> => {
      release = await room.take(owner, { amount, waitMs: roomWaitMs });
    };
    const fetch: Fetch = { deadline, take, isPrivate: false };
    try {
      const image = await follow(text, fetch).catch((error: unknown) => {
        const isExpected = error instanceof SendFailure || error instanceof ServiceError;
        if (isExpected && fetch.isPrivate) throw invalid('/url', `${FAILED}.`);
        if (error instanceof SendFailure) throw invalid('/url', `${FAILED}: ${error.message}`);
        throw error;
      });
      return await use(image);
    } finally {
      deadline.clear();
      release?.();
    }
  };
}

/** Sends the request over a connected socket, so that node:http neither resolves nor connects itself. */
function get(url: URL, socket: Socket): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      createConnection: () => socket,
      headers: {
        host: url.host,
        accept: IMAGE_MEDIA_TYPES.join(', '),
        'accept-encoding': 'identity',
        'user-agent': 'workspace-content-service',
        connection: 'close',
      },
    });
    outgoing.on('response', resolve);
    outgoing.on('error', (error) => reject(new SendFailure(describeNetworkError(error))));
    outgoing.end();
  });
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof SendFailure) throw error;
    throw new SendFailure('The connection was closed before the whole image had arrived.');
  }
  return Buffer.concat(chunks);
}

/** The decoded last part of the path, or `image`. */
function fileNameOf(url: URL): string {
  const last = path.posix.basename(url.pathname);
  let name: string;
  try {
    name = decodeURIComponent(last);
  } catch {
    name = last;
  }
  const clean = name.replaceAll('\0', '').toWellFormed().normalize('NFC').trim();
  return clean === '' || codePoints(clean) > MAX_FILE_NAME ? 'image' : clean;
}
