import { MAX_IMAGE_BYTES } from '../blobs/asset.ts';
import { contentHashOf } from '../blobs/blob-store.ts';
import { imageMediaType } from '../blobs/media-type.ts';
import type { NewBlob } from '../blobs/references.ts';
import { invalid, type ServiceError, unavailable } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import { currentShare } from '../threads/share.ts';
import { MAX_PIXELS } from './limits.ts';
import type { MediaProcessor, ProcessedImage } from './media.ts';
import { type MediaProcess, startMediaProcess } from './media-process.ts';
import { svgSize } from './svg-size.ts';
import type { MediaJob, MediaProblem, MediaResult, Message } from './wire.ts';

const SVG = 'image/svg+xml';

/** Images that are decoded at once, each in a process of its own, one of a workspace at most. */
const AT_ONCE = 2;
/** How long an image waits for one of them, and how long it may take there, in milliseconds. */
const WAIT_MS = 10_000;
const TIMEOUT_MS = 10_000;
/** Images of one workspace that wait: more than one peer has connections, as a refusal at once is sent again at once. */
const MAX_WAITING = 256;
/** Starting one takes a third of a second, and holding one 60 MiB. */
const IDLE_MS = 60_000;
const RETRY_SECONDS = 5;

const notNow = (message: string): ServiceError =>
  unavailable('images', message, { retryAfter: RETRY_SECONDS });

const PROBLEMS: Readonly<Record<MediaProblem, string>> = {
  damaged: 'The file is damaged, or of another type than its first bytes say.',
  pixels: `The image has more than ${MAX_PIXELS / 1_000_000} million pixels.`,
  bytes: `The image takes more than ${MAX_IMAGE_BYTES} bytes once it is turned, reduced or in other colours.`,
};

export interface MediaProcessorOptions {
  readonly logger: { error(about: object, message: string): void };
  readonly waitMs?: number;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
}

/** A processor that can be looked into. */
export interface LocalMediaProcessor extends MediaProcessor {
  /** The ids of its processes. */
  readonly pids: () => readonly number[];
}

/**
 * Decodes images in processes of their own, which start with the first image and end when idle. The workspaces' turns are
 * fair, and none takes both processes (contract.md F51). What kills a process costs the image that did it a 503.
 */
export function createMediaProcessor(options: MediaProcessorOptions): LocalMediaProcessor {
  const { logger, waitMs = WAIT_MS, timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS } = options;
  const queue = createFairQueue({
    total: AT_ONCE,
    perOwner: AT_ONCE - 1,
    maxWaiting: MAX_WAITING,
    refusal: () => notNow('Too many images are being processed. Try again shortly.'),
  });
  const idle = new Map<MediaProcess, NodeJS.Timeout>();
  const all = new Set<MediaProcess>();
  let isClosed = false;

  const start = (): MediaProcess => {
    const made = startMediaProcess((reason) => {
      discard(made);
      logger.error({ reason }, 'a process that decodes images ended');
    });
    all.add(made);
    return made;
  };
  const discard = (ended: MediaProcess): void => {
    clearTimeout(idle.get(ended));
    idle.delete(ended);
    all.delete(ended);
    ended.kill();
  };
  const take = (): MediaProcess => {
    const waiting = [...idle.keys()].find((each) => each.isAlive());
    if (waiting === undefined) return start();
    clearTimeout(idle.get(waiting));
    idle.delete(waiting);
    return waiting;
  };
  const giveBack = (used: MediaProcess): void => {
    if (!used.isAlive() || isClosed) discard(used);
    else idle.set(used, setTimeout(() => discard(used), idleMs).unref());
  };

  const run = async (job: MediaJob, bytes: Uint8Array): Promise<Message<MediaResult>> => {
    const release = await queue.take(currentShare().of, { waitMs });
    try {
      if (isClosed) throw notNow('The service is stopping.');
      const used = take();
      try {
        return await used.run(job, bytes, timeoutMs);
      } catch {
        throw notNow('The image could not be processed. Try again shortly.');
      } finally {
        giveBack(used);
      }
    } finally {
      release();
    }
  };

  const process = async (
    kind: MediaJob['kind'],
    given: Uint8Array,
    pointer: string,
  ): Promise<ProcessedImage> => {
    const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    const mediaType = imageMediaType(bytes);
    if (mediaType === null || (mediaType === SVG && kind !== 'upload')) {
      throw invalid(pointer, 'The file is not a PNG, JPEG, GIF, WebP, AVIF or SVG image.');
    }
    if (mediaType === SVG) {
      return { ...(await blobOf(bytes)), mediaType, ...svgSize(bytes), preview: null, thumbnail: null };
    }
    const { head, parts } = await run({ kind, mediaType }, bytes);
    if (!head.ok) throw invalid(pointer, PROBLEMS[head.problem]);
    const [image, preview, thumbnail] = parts;
    return {
      ...(await blobOf(image === undefined || image.length === 0 ? bytes : image)),
      mediaType: head.mediaType,
      width: head.width,
      height: head.height,
      preview: preview === undefined || preview.length === 0 ? null : await blobOf(preview),
      thumbnail: thumbnail === undefined || thumbnail.length === 0 ? null : await blobOf(thumbnail),
    };
  };

  return {
    processUpload: (bytes, pointer) => process('upload', bytes, pointer),
    processGenerated: (bytes, role) => process(role, bytes, ''),
    pids: () => [...all].flatMap(({ pid }) => pid ?? []),
    async close() {
      isClosed = true;
      for (const each of all) discard(each);
    },
  };
}

const blobOf = async (bytes: Buffer): Promise<NewBlob> => ({
  bytes,
  contentHash: await contentHashOf(bytes),
});
