import { type BlobStore, blobKey, isContentHash } from '../blob-store.ts';
import { createS3Client, ignoreBody, readText, type S3Response } from './client.ts';
import { connectionFailure, S3Failure } from './failure.ts';
import { MAX_PAGE_BYTES, parseObjectPage } from './list-objects.ts';
import { S3_LIMITS, type S3Limits, type S3Settings } from './settings.ts';

const PAGE = 1_000;
/** Pages of one shard: as many as 25 thousand million images would take. A longer list is a fault of the store. */
const MAX_PAGES = 100_000;
/** Measured: four chunks of a connection's 64 KiB, one of them with the reader. */
const BYTES_HELD = 256 * 1024;

interface Found {
  readonly size: number;
  readonly ageMs: number;
}

/**
 * A store in a bucket of S3, or of whatever speaks its protocol and has conditional writes. Keys are those of the folder.
 * An object is there as a whole or not at all, so there are no drafts (contract.md F40).
 */
export function createS3BlobStore(settings: S3Settings, limits: S3Limits = S3_LIMITS): BlobStore {
  const client = createS3Client(settings, limits);
  const encryption =
    settings.encryption === undefined ? {} : { 'x-amz-server-side-encryption': settings.encryption };

  let checking: Promise<void> | undefined;
  /** Asks for the bucket, once for all who want to know at the same time. */
  const check = (): Promise<void> => {
    checking ??= client.call({ method: 'HEAD', key: '', expected: [200] }, ignoreBody).finally(() => {
      checking = undefined;
    });
    return checking;
  };

  async function find(contentHash: string): Promise<Found | null> {
    if (!isContentHash(contentHash)) return null;
    const key = blobKey(contentHash);
    const found = await client.call({ method: 'HEAD', key, expected: [200, 404] }, async (response) => {
      await ignoreBody(response);
      return response.statusCode === 404 ? null : readFound(response);
    });
    // HEAD has no body that says what is missing: a bucket that is gone would pass for a missing image.
    if (found === null) await check();
    return found;
  }

  /** @returns whether the object was written; false when the key is taken */
  const write = (
    contentHash: string,
    bytes: Uint8Array,
    condition: Record<string, string>,
  ): Promise<boolean> =>
    client.call(
      {
        method: 'PUT',
        key: blobKey(contentHash),
        headers: {
          ...condition,
          ...encryption,
          'content-type': 'application/octet-stream',
          'x-amz-checksum-sha256': Buffer.from(contentHash, 'hex').toString('base64'),
        },
        body: { bytes, sha256: contentHash },
        expected: [200, 412],
      },
      async (response) => {
        await ignoreBody(response);
        return response.statusCode === 200;
      },
    );

  /** Opens the object from a byte on. */
  const openAt = (contentHash: string, offset: number): Promise<S3Response['body']> =>
    client.call(
      {
        method: 'GET',
        key: blobKey(contentHash),
        headers: offset === 0 ? {} : { range: `bytes=${offset}-` },
        expected: [offset === 0 ? 200 : 206],
      },
      async ({ body }) => body,
    );

  /** The bytes of an object. A connection that fails is replaced where it stopped: the bytes of a hash never change. */
  async function* piecesOf(contentHash: string, size: number): AsyncGenerator<Uint8Array> {
    let offset = 0;
    for (let made = 1; offset < size; made += 1) {
      const body = await openAt(contentHash, offset);
      try {
        for await (const piece of body as AsyncIterable<Buffer>) {
          offset += piece.byteLength;
          if (offset > size) throw wrongSize(false);
          yield piece;
        }
        if (offset < size) throw wrongSize(true);
      } catch (error) {
        await client.pauseAfter(connectionFailure('GET', error), made);
      } finally {
        body.destroy();
      }
    }
  }

  return {
    has: async (contentHash) => (await find(contentHash)) !== null,
    async put(contentHash, bytes) {
      if (await write(contentHash, bytes, { 'if-none-match': '*' })) return;
      // Somebody else's tool may have left a part of it.
      const found = await find(contentHash);
      if (found?.size !== bytes.byteLength) await write(contentHash, bytes, {});
    },
    async open(contentHash) {
      const found = await find(contentHash);
      if (found === null) return null;
      const { size } = found;
      return {
        size,
        bytesHeld: BYTES_HELD,
        read: () => ReadableStream.from(piecesOf(contentHash, size)) as ReadableStream<Uint8Array>,
      };
    },
    ageMs: async (contentHash) => (await find(contentHash))?.ageMs ?? null,
    async remove(contentHash) {
      const wanted = { method: 'DELETE', key: blobKey(contentHash), expected: [200, 204, 404] } as const;
      const wasThere = await client.call(wanted, async (response) => {
        await ignoreBody(response);
        return response.statusCode !== 404;
      });
      if (!wasThere) await check();
    },
    async *list(shard) {
      let token: string | undefined;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const query = [
          ...(token === undefined ? [] : [`continuation-token=${escaped(token)}`]),
          'list-type=2',
          `max-keys=${PAGE}`,
          `prefix=${escaped(`${shard}/`)}`,
        ].join('&');
        const { keys, next } = await client.call(
          { method: 'GET', key: '', query, expected: [200] },
          async (response) => parseObjectPage(await readText(response, MAX_PAGE_BYTES)),
        );
        const hashes = keys.map((key) => key.slice(key.lastIndexOf('/') + 1));
        const blobs = hashes.filter((hash, index) => isContentHash(hash) && keys[index] === blobKey(hash));
        if (blobs.length > 0) yield blobs;
        if (next === undefined) return;
        token = next;
      }
      throw new S3Failure(`The image store lists more than ${MAX_PAGES} pages of ${shard}/.`, {
        retryable: false,
      });
    },
    discardDrafts: async () => undefined,
    check,
    close: client.close,
  };
}

/** @param retryable false when there were too many: what was read is no part of the blob */
const wrongSize = (retryable: boolean): S3Failure =>
  new S3Failure('The image store sent another number of bytes than it has.', { retryable });

/** A character that RFC 3986 does not call unreserved is escaped, as signatures need it. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** Size and age of an object by its headers. Both instants are the store's: its clock may differ from ours. */
function readFound({ headers }: S3Response): Found {
  const size = Number(headers['content-length']);
  const ageMs = Date.parse(String(headers.date)) - Date.parse(String(headers['last-modified']));
  if (!Number.isSafeInteger(size) || Number.isNaN(ageMs)) {
    throw new S3Failure('The image store did not state size, date and last change of an object.', {
      retryable: true,
    });
  }
  // Some stores renew the date that they state only once a second.
  return { size, ageMs: Math.max(0, ageMs) };
}
