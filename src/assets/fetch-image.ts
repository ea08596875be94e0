import path from 'node:path';
import { IMAGE_MEDIA_TYPES, MAX_FILE_NAME, MAX_IMAGE_BYTES } from '../blobs/asset.ts';
import { codePoints } from '../document/text/characters.ts';
import { invalid, ServiceError } from '../errors.ts';
import type { MediaProcessor, ProcessedImage } from '../media/media.ts';
import { classifyAddress, parseReceiverUrl } from '../outbound/address-guard.ts';
import { type Deadline, startDeadline } from '../outbound/deadline.ts';
import { SendFailure } from '../outbound/failure.ts';
import { guardedGet } from '../outbound/guarded-get.ts';
import type { AddressGuard } from '../outbound/resolver.ts';
import { currentShare } from '../threads/share.ts';

/** An image fetched from a URL. */
export interface FetchedImage {
  readonly image: ProcessedImage;
  /** The last part of the path. */
  readonly fileName: string;
}

/**
 * Fetches an image. Its bytes take room of the current request.
 * @throws {ServiceError} INVALID_REQUEST for `/url`, saying why the image could not be fetched; SERVICE_UNAVAILABLE when
 *   there is no room for it
 */
export type FetchImage = (url: string) => Promise<FetchedImage>;

const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 15_000;
const FAILED = 'The image could not be fetched';

const isPublicAddress = (ip: string): boolean => classifyAddress(ip) === 'allowed';

/** One fetch, with its hops so far. */
interface Fetch {
  readonly deadline: Deadline;
  /** Whether a hop led into an allowed private network. */
  isPrivate: boolean;
}

/**
 * Creates the fetcher of images by URL. Like webhooks it connects only to addresses that the guard allows, for the URL and
 * for each of at most three redirects. Gives up after 15 seconds in all or 20 MiB. A response with Content-Length takes
 * twice that much room, as fetched and as stored, any other twice the maximum. Where a hop leads into an allowed private network every failure has the same
 * words, so that no caller can explore it (contract.md F30).
 */
export function createImageFetcher({
  guard,
  media,
  timeoutMs = TIMEOUT_MS,
  maxBytes = MAX_IMAGE_BYTES,
  isPublic = isPublicAddress,
}: {
  guard: AddressGuard;
  media: MediaProcessor;
  isPublic?: (ip: string) => boolean;
  timeoutMs?: number;
  maxBytes?: number;
}): FetchImage {
  async function follow(text: string, fetch: Fetch): Promise<FetchedImage> {
    const { deadline } = fetch;
    let next = text;
    for (let redirects = 0; ; redirects += 1) {
      const verdict = parseReceiverUrl(next);
      if (!verdict.ok) throw new SendFailure(verdict.reason);
      const { url } = verdict;
      const response = await guardedGet(url, {
        guard,
        deadline,
        accept: IMAGE_MEDIA_TYPES.join(', '),
        maxBytes,
        onResolved: (addresses) => {
          if (!addresses.every(isPublic)) fetch.isPrivate = true;
        },
      });
      try {
        const { status } = response;
        const { location } = response.headers;
        if (status >= 300 && status <= 399 && location !== undefined && redirects < MAX_REDIRECTS) {
          next = URL.parse(location, url.href)?.href ?? '';
          continue;
        }
        if (status !== 200) throw new SendFailure(`The URL responded with ${status}.`);
        // Nothing is read from the connection meanwhile.
        await deadline.raceUncounted(
          currentShare().room?.take(2 * response.bodyBytes()) ?? Promise.resolve(),
        );
        const bytes = await response.readBody();
        return {
          image: await deadline.raceUncounted(media.processUpload(bytes, '/url')),
          fileName: fileNameOf(url),
        };
      } finally {
        response.close();
      }
    }
  }

  return async (text) => {
    const deadline = startDeadline(timeoutMs);
    const fetch: Fetch = { deadline, isPrivate: false };
    try {
      return await follow(text, fetch);
    } catch (error) {
      const isExpected = error instanceof SendFailure || error instanceof ServiceError;
      if (isExpected && fetch.isPrivate) throw invalid('/url', `${FAILED}.`);
      if (error instanceof SendFailure) throw invalid('/url', `${FAILED}: ${error.message}`);
      throw error;
    } finally {
      deadline.clear();
    }
  };
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
