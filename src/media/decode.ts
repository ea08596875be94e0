/** Decodes one image. Runs in a process of its own: whatever a hostile file does to the decoder happens there. */
import sharp, { type Metadata, type Sharp } from 'sharp';
import { DamagedImage, stripMetadata } from './containers.ts';
import { GENERATED, MAX_PIXELS, MAX_SIDE, PREVIEW, THUMBNAIL } from './limits.ts';
import type { MediaJob, MediaProblem } from './wire.ts';

/** What was made of an image. */
export interface Decoded {
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
  /** Null where the bytes that came stay as they are. */
  readonly image: Buffer | null;
  readonly preview: Buffer | null;
  readonly thumbnail: Buffer;
}

export class UnusableImage extends Error {
  readonly problem: MediaProblem;

  constructor(problem: MediaProblem) {
    super(problem);
    this.problem = problem;
  }
}

/** Prepares the library: one thread a job, no cache, and no other decoder than those of the accepted formats. */
export function limitDecoders(): void {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  const formats = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'];
  sharp.unblock({ operation: formats.map((format) => `VipsForeignLoad${format}`) });
}

/** @throws {UnusableImage} */
export async function decode(job: MediaJob, bytes: Buffer): Promise<Decoded> {
  try {
    return job.kind === 'upload'
      ? await decodeUpload(job.mediaType, bytes)
      : await redraw(job.kind, job.mediaType, bytes);
  } catch (error) {
    if (error instanceof UnusableImage) throw error;
    if (error instanceof DamagedImage) throw new UnusableImage('damaged');
    // The decoder's own words name addresses in memory and offsets, and nothing that helps.
    throw new UnusableImage(/pixel limit/.test(String(error)) ? 'pixels' : 'damaged');
  }
}

/** The upright picture; the first frame of an animation. */
const open = (bytes: Buffer): Sharp =>
  sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', autoOrient: true });

const FORMATS: Readonly<Record<string, string>> = {
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  gif: 'image/gif',
  heif: 'image/avif',
};

/** @throws {UnusableImage} for another type than its first bytes say */
async function describe(mediaType: string, bytes: Buffer): Promise<Metadata> {
  const found = await sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' }).metadata();
  if (FORMATS[found.format ?? ''] !== mediaType) throw new UnusableImage('damaged');
  if (found.width * found.height > MAX_PIXELS) throw new UnusableImage('pixels');
  return found;
}

async function decodeUpload(mediaType: string, bytes: Buffer): Promise<Decoded> {
  const stripped = stripMetadata(mediaType, bytes);
  const found = await describe(mediaType, bytes);
  const isAnimated = stripped.isAnimated || (found.pages ?? 1) > 1;
  const isEncoded = !isAnimated && mustEncode(mediaType, found);
  const size = { width: MAX_SIDE, height: MAX_SIDE };
  const { data: whole, info } = isEncoded
    ? await encode(mediaType, reduce(open(bytes), size))
    : { data: stripped.bytes, info: found };
  const { width, height } = info;
  const raw = await pixelsOf(open(whole), PREVIEW);
  const itselfServes =
    mediaType === 'image/webp' && !isAnimated && width <= PREVIEW.width && height <= PREVIEW.height;
  return {
    mediaType,
    width,
    height,
    image: whole === bytes ? null : whole,
    preview: itselfServes ? null : await toWebp(raw, PREVIEW),
    thumbnail: await toWebp(raw, THUMBNAIL),
  };
}

/** A generated picture, as a WebP. */
async function redraw(kind: 'hero' | 'inline', mediaType: string, bytes: Buffer): Promise<Decoded> {
  await describe(mediaType, bytes);
  const raw = await pixelsOf(open(bytes), GENERATED[kind]);
  const image = await toWebp(raw, GENERATED[kind]);
  const { width, height } = await sharp(image).metadata();
  return {
    mediaType: 'image/webp',
    width,
    height,
    image,
    preview: width <= PREVIEW.width ? null : await toWebp(raw, PREVIEW),
    thumbnail: await toWebp(raw, THUMBNAIL),
  };
}

/** Whether the pixels have to change: turned, too large, in other colours than sRGB with 8 bits, or metadata within. */
function mustEncode(
  mediaType: string,
  { width, height, orientation, space, depth, icc, exif, xmp }: Metadata,
): boolean {
  const hasMetadata = exif !== undefined || xmp !== undefined;
  return (
    (orientation ?? 1) !== 1 ||
    Math.max(width, height) > MAX_SIDE ||
    (space !== 'srgb' && space !== 'b-w') ||
    depth !== 'uchar' ||
    (icc !== undefined && !isSrgb(icc)) ||
    // Its metadata stands between the pixels: it goes only by re-encoding the file.
    (mediaType === 'image/avif' && hasMetadata)
  );
}

/** Whether a colour profile calls itself sRGB, in either of the encodings of its description. */
const isSrgb = (profile: Buffer): boolean =>
  profile.includes('sRGB', 'latin1') || profile.includes(Buffer.from('\0s\0R\0G\0B', 'latin1'));

const reduce = (picture: Sharp, { width, height }: { width: number; height: number }): Sharp =>
  picture.resize({ width, height, fit: 'inside', withoutEnlargement: true });

/** In its own format, in sRGB. */
function encode(mediaType: string, picture: Sharp) {
  const inColour = picture.toColourspace('srgb');
  const encoders: Readonly<Record<string, () => Sharp>> = {
    'image/jpeg': () => inColour.jpeg({ quality: 92, chromaSubsampling: '4:4:4' }),
    'image/png': () => inColour.png(),
    'image/webp': () => inColour.webp({ quality: 92, effort: 2 }),
    'image/gif': () => inColour.gif({ effort: 3 }),
    'image/avif': () => inColour.avif({ quality: 70, effort: 0 }),
  };
  const encoder = encoders[mediaType];
  if (encoder === undefined) throw new UnusableImage('damaged');
  return encoder().toBuffer({ resolveWithObject: true });
}

const pixelsOf = (picture: Sharp, size: { width: number; height: number }) =>
  reduce(picture, size).toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });

/** Qualities, each for a picture that was too large in the one before: few pictures need the second. */
const QUALITIES = [80, 50, 20];
const SCALES = [1, 0.5, 0.25];

/** A WebP within a size and a number of bytes. */
async function toWebp(
  { data, info }: Awaited<ReturnType<typeof pixelsOf>>,
  { width, height, maxBytes }: { width: number; height: number; maxBytes: number },
): Promise<Buffer> {
  const { channels } = info;
  for (const scale of SCALES) {
    const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
    for (const quality of QUALITIES) {
      const raw = { width: info.width, height: info.height, channels };
      const webp = await reduce(sharp(data, { raw }), size).webp({ quality, effort: 2 }).toBuffer();
      if (webp.length <= maxBytes) return webp;
    }
  }
  throw new UnusableImage('damaged');
}
