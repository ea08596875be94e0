/**
 * Removes what is not a picture from image files, without decoding them: metadata (EXIF with GPS, XMP, IPTC, comments,
 * texts) and whatever follows the image's end. Each walk is linear in the bytes.
 */

/** Bytes that are not a whole file of their format. */
export class DamagedImage extends Error {}

/** A file without metadata: the given bytes where it had none. */
export interface Stripped {
  readonly bytes: Buffer;
  /** Of a PNG and an AVIF, whose decoders do not say so. */
  readonly isAnimated: boolean;
}

const AVIF_SEQUENCE = 'avis';
const brandOf = (bytes: Buffer): string => bytes.toString('latin1', 8, 12);

export function stripMetadata(mediaType: string, bytes: Buffer): Stripped {
  switch (mediaType) {
    case 'image/png':
      return stripPng(bytes);
    case 'image/jpeg':
      return { bytes: stripJpeg(bytes), isAnimated: false };
    case 'image/webp':
      return { bytes: stripWebp(bytes), isAnimated: false };
    case 'image/gif':
      return { bytes: stripGif(bytes), isAnimated: false };
    default:
      return { bytes, isAnimated: mediaType === 'image/avif' && brandOf(bytes) === AVIF_SEQUENCE };
  }
}

/** Collects the parts that stay; parts in a row are one. */
function createKept(bytes: Buffer) {
  const ranges: { start: number; end: number }[] = [];
  return {
    keep(start: number, end: number): void {
      if (end > bytes.length) throw new DamagedImage();
      const last = ranges.at(-1);
      if (last?.end === start) last.end = end;
      else ranges.push({ start, end });
    },
    /** The given bytes themselves where all of them stay. */
    join(): Buffer {
      const parts = ranges.map(({ start, end }) => bytes.subarray(start, end));
      return parts[0]?.length === bytes.length ? bytes : Buffer.concat(parts);
    },
  };
}

const PNG_CHUNKS = new Set(
  'IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(
    ' ',
  ),
);
const PNG_SIGNATURE_BYTES = 8;
const PNG_CHUNK_BYTES = 12;

function stripPng(bytes: Buffer): Stripped {
  const kept = createKept(bytes);
  kept.keep(0, PNG_SIGNATURE_BYTES);
  let isAnimated = false;
  for (let at = PNG_SIGNATURE_BYTES; at + PNG_CHUNK_BYTES <= bytes.length; ) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + PNG_CHUNK_BYTES + bytes.readUInt32BE(at);
    if (PNG_CHUNKS.has(type)) kept.keep(at, end);
    if (type === 'acTL') isAnimated = true;
    if (type === 'IEND') return { bytes: kept.join(), isAnimated };
    at = end;
  }
  throw new DamagedImage();
}

const JPEG_END = 0xd9;
const JPEG_SCAN = 0xda;
const JPEG_COMMENT = 0xfe;
const JPEG_APP = { first: 0xe0, colours: 0xe2, adobe: 0xee, last: 0xef };

/** Markers without a length: TEM, restarts, start. */
const standsAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/** Whether a segment is needed to show the picture: of the application's, its colours alone are. */
function isShownSegment(bytes: Buffer, marker: number, body: number): boolean {
  const startsWith = (text: string): boolean => bytes.toString('latin1', body, body + text.length) === text;
  if (marker === JPEG_COMMENT) return false;
  if (marker < JPEG_APP.first || marker > JPEG_APP.last) return true;
  if (marker === JPEG_APP.first) return startsWith('JFIF\0');
  if (marker === JPEG_APP.colours) return startsWith('ICC_PROFILE\0');
  return marker === JPEG_APP.adobe && startsWith('Adobe');
}

function stripJpeg(bytes: Buffer): Buffer {
  const kept = createKept(bytes);
  for (let at = 0; at + 1 < bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff || marker === 0xff) {
      // Bytes before a marker, which decoders skip.
      at = bytes.indexOf(0xff, at + 1);
      if (at === -1) break;
      continue;
    }
    if (marker === JPEG_END) {
      kept.keep(at, at + 2);
      return kept.join();
    }
    if (standsAlone(marker)) {
      kept.keep(at, at + 2);
      at += 2;
      continue;
    }
    if (at + 4 > bytes.length) break;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const next = marker === JPEG_SCAN ? scanEnd(bytes, end) : end;
    if (isShownSegment(bytes, marker, at + 4)) kept.keep(at, next);
    at = next;
  }
  throw new DamagedImage();
}

/** Where the coded data of a scan ends: at the next marker that is no restart. */
function scanEnd(bytes: Buffer, from: number): number {
  for (
    let at = bytes.indexOf(0xff, from);
    at !== -1 && at + 1 < bytes.length;
    at = bytes.indexOf(0xff, at + 1)
  ) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  throw new DamagedImage();
}

const WEBP_CHUNKS = new Set(['VP8 ', 'VP8L', 'VP8X', 'ANIM', 'ANMF', 'ALPH', 'ICCP']);
const RIFF_BYTES = 12;
/** Bits of VP8X that announce EXIF and XMP. */
const WEBP_METADATA = 0x0c;

function stripWebp(bytes: Buffer): Buffer {
  const kept = createKept(bytes);
  const whole = 8 + bytes.readUInt32LE(4);
  if (whole > bytes.length) throw new DamagedImage();
  kept.keep(0, RIFF_BYTES);
  for (let at = RIFF_BYTES; at + 8 <= whole; ) {
    const size = bytes.readUInt32LE(at + 4);
    // A chunk of an odd length is followed by one byte more, which the last one may lack.
    if (at + 8 + size > whole) throw new DamagedImage();
    const end = Math.min(at + 8 + size + (size % 2), whole);
    if (WEBP_CHUNKS.has(bytes.toString('latin1', at, at + 4))) kept.keep(at, end);
    at = end;
  }
  const joined = kept.join();
  if (joined === bytes) return bytes;
  joined.writeUInt32LE(joined.length - 8, 4);
  if (joined.toString('latin1', RIFF_BYTES, RIFF_BYTES + 4) === 'VP8X' && joined.length > RIFF_BYTES + 8) {
    joined[RIFF_BYTES + 8] = (joined[RIFF_BYTES + 8] ?? 0) & ~WEBP_METADATA;
  }
  return joined;
}

const GIF_HEADER_BYTES = 13;
const GIF = { image: 0x2c, extension: 0x21, end: 0x3b, comment: 0xfe, application: 0xff };
/** Of applications' extensions, the two that repeat an animation. */
const GIF_REPEATS = ['NETSCAPE2.0', 'ANIMEXTS1.0'];

function stripGif(bytes: Buffer): Buffer {
  const kept = createKept(bytes);
  const byte = (at: number): number => {
    const value = bytes[at];
    if (value === undefined) throw new DamagedImage();
    return value;
  };
  const tableBytes = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  const blocksEnd = (from: number): number => {
    let at = from;
    for (let size = byte(at); size > 0; size = byte(at)) at += 1 + size;
    return at + 1;
  };
  let at = GIF_HEADER_BYTES + tableBytes(byte(10));
  kept.keep(0, at);
  for (;;) {
    const kind = byte(at);
    if (kind === GIF.end) {
      kept.keep(at, at + 1);
      return kept.join();
    }
    let isKept = true;
    let end: number;
    if (kind === GIF.image) end = blocksEnd(at + 11 + tableBytes(byte(at + 9)));
    else if (kind === GIF.extension) {
      const label = byte(at + 1);
      end = blocksEnd(at + 2);
      if (label === GIF.comment) isKept = false;
      if (label === GIF.application) isKept = GIF_REPEATS.includes(bytes.toString('latin1', at + 3, at + 14));
    } else throw new DamagedImage();
    if (isKept) kept.keep(at, end);
    at = end;
  }
}
