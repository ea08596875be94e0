import { randomBytes } from 'node:crypto';
import sharp, { type Metadata } from 'sharp';
import { describe, expect, it } from 'vitest';
import { MAX_GENERATED_BYTES } from '../../src/media/limits.ts';
import { type ProcessedImage, storedBytesOf } from '../../src/media/media.ts';
import { png, pngChunk, svg, useTestMedia } from '../support/images.ts';

const media = useTestMedia();
const FORMATS = ['png', 'jpeg', 'webp', 'avif', 'gif'] as const;
type Format = (typeof FORMATS)[number];

const noise = (width: number, height: number) =>
  sharp(randomBytes(3 * width * height), { raw: { width, height, channels: 3 } });
const EFFORT: Partial<Record<Format, { effort: number }>> = {
  webp: { effort: 0 },
  avif: { effort: 0 },
  gif: { effort: 1 },
};
/** A picture that its encoder is done with quickly. */
const encoded = async (format: Format, width: number, height: number): Promise<Buffer> => {
  const few = await noise(30, 20).png().toBuffer();
  return sharp(few).resize(width, height, { fit: 'fill' }).toFormat(format, EFFORT[format]).toBuffer();
};
const upload = (bytes: Uint8Array): Promise<ProcessedImage> => media.processUpload(bytes, '/file');
const refusal = (bytes: Uint8Array) =>
  upload(bytes).then(
    () => 'accepted',
    (error) => ({ code: error.code, pointer: error.issues?.[0].pointer, message: error.message }),
  );
const pixelsOf = (bytes: Uint8Array) => sharp(bytes).raw().toBuffer();
const about = async (bytes: Uint8Array): Promise<Metadata> => sharp(bytes).metadata();
const SECRET = 'Ann, 51.5 N';
const GPS = { IFD0: { Copyright: SECRET }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' } };
const frames = (format: 'webp' | 'gif') =>
  sharp(randomBytes(60 * 200 * 3), { raw: { width: 60, height: 200, channels: 3, pageHeight: 50 } })
    .toFormat(format)
    .toBuffer();
const apng = (): Buffer => {
  const still = png(60, 50);
  const control = Buffer.alloc(8);
  control.writeUInt32BE(1, 0);
  return Buffer.concat([still.subarray(0, 33), pngChunk('acTL', control), still.subarray(33)]);
};

// contract.md F45 and F47
describe('an image that a person sends', () => {
  it.each(FORMATS)(
    'is stored as it came where it has no metadata, with a preview and a thumbnail: %s',
    async (format) => {
      const sent = await encoded(format, 1_500, 1_000);
      const { bytes, mediaType, width, height, preview, thumbnail } = await upload(sent);
      expect(sent.equals(bytes)).toBe(true);
      expect([mediaType, width, height]).toEqual([`image/${format}`, 1_500, 1_000]);
      expect(await about(preview?.bytes ?? sent)).toMatchObject({
        format: 'webp',
        width: 1_200,
        height: 800,
      });
      expect(await about(thumbnail?.bytes ?? sent)).toMatchObject({
        format: 'webp',
        width: 320,
        height: 213,
      });
    },
  );

  it.each(['png', 'jpeg', 'webp'] as const)('keeps each pixel and loses its metadata: %s', async (format) => {
    const sent = await noise(300, 200).withExif(GPS).withXmp(`<x>${SECRET}</x>`).toFormat(format).toBuffer();
    expect(sent.includes(SECRET)).toBe(true);
    const { bytes } = await upload(sent);
    expect(Buffer.from(bytes).includes(SECRET)).toBe(false);
    const { exif, xmp, format: kept } = await about(bytes);
    expect([exif, xmp, kept]).toEqual([undefined, undefined, format]);
    expect((await pixelsOf(bytes)).equals(await pixelsOf(sent))).toBe(true);
  });

  it('loses the comments of a GIF, and the metadata of an AVIF', async () => {
    const gif = await noise(30, 20).gif().toBuffer();
    const comment = Buffer.concat([
      Buffer.from([0x21, 0xfe, SECRET.length]),
      Buffer.from(SECRET),
      Buffer.from([0]),
    ]);
    const told = Buffer.concat([gif.subarray(0, -1), comment, gif.subarray(-1)]);
    expect(gif.equals((await upload(told)).bytes)).toBe(true);
    const avif = await noise(30, 20).withExif(GPS).avif().toBuffer();
    const { bytes, mediaType } = await upload(avif);
    expect([avif.includes(SECRET), Buffer.from(bytes).includes(SECRET), mediaType]).toEqual([
      true,
      false,
      'image/avif',
    ]);
  });

  it.each(['png', 'jpeg', 'webp', 'gif'] as const)(
    'ends where the picture ends: what was behind it goes: %s',
    async (format) => {
      const sent = await noise(30, 20).toFormat(format).toBuffer();
      const { bytes } = await upload(
        Buffer.concat([sent, Buffer.from('PK\x03\x04<script>alert(1)</script>')]),
      );
      expect(sent.equals(bytes)).toBe(true);
    },
  );

  it('is turned upright, whichever of the eight ways it was held', async () => {
    const picture = noise(40, 30);
    for (const format of ['jpeg', 'png', 'webp'] as const) {
      for (let orientation = 1; orientation <= 8; orientation += 1) {
        const sent = await picture
          .clone()
          .withMetadata({ orientation })
          .toFormat(format, { quality: 100 })
          .toBuffer();
        const { bytes, width, height } = await upload(sent);
        const shown = await about(bytes);
        expect([width, height, shown.orientation]).toEqual([
          ...(orientation < 5 ? [40, 30] : [30, 40]),
          undefined,
        ]);
        const [one, other] = [await pixelsOf(bytes), await sharp(sent).autoOrient().raw().toBuffer()];
        const difference =
          one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0) / one.length;
        expect(difference, `${format} ${orientation}`).toBeLessThan(format === 'png' ? 0.01 : 12);
      }
    }
  });

  it('is shown in sRGB with 8 bits: CMYK, 16 bits and other profiles are written anew in their format', async () => {
    const small = await noise(300, 200).png().toBuffer();
    const foreign: [Buffer, string][] = [
      [await sharp(small).toColourspace('cmyk').jpeg().toBuffer(), 'image/jpeg'],
      [await sharp(small).toColourspace('rgb16').png().toBuffer(), 'image/png'],
      [await sharp(small).withIccProfile('p3').jpeg().toBuffer(), 'image/jpeg'],
      [await sharp(small).withIccProfile('p3').webp().toBuffer(), 'image/webp'],
    ];
    for (const [sent, mediaType] of foreign) {
      const image = await upload(sent);
      expect(image).toMatchObject({ mediaType, width: 300, height: 200 });
      expect(await about(image.bytes)).toMatchObject({ space: 'srgb', depth: 'uchar', hasProfile: false });
    }
    const usual = await sharp(small).withIccProfile('srgb').jpeg().toBuffer();
    expect(usual.equals((await upload(usual)).bytes)).toBe(true);
  });

  it('is reduced above 4,096 pixels a side, and never cropped', async () => {
    const { bytes, width, height } = await upload(png(8_000, 4_000));
    expect([width, height]).toEqual([4_096, 2_048]);
    expect(await about(bytes)).toMatchObject({ format: 'png', width: 4_096, height: 2_048 });
  });

  it('passes animations and SVG; an animation has a preview of its first frame, an SVG none', async () => {
    for (const sent of [await frames('webp'), await frames('gif'), apng()]) {
      const { bytes, width, height, preview, thumbnail } = await upload(sent);
      expect(sent.equals(bytes)).toBe(true);
      expect([width, height]).toEqual([60, 50]);
      expect(await about(preview?.bytes ?? sent)).toMatchObject({ format: 'webp', width: 60, height: 50 });
      expect(thumbnail).not.toBeNull();
    }
    const drawing = Buffer.from('<?xml version="1.0"?>\n<svg viewBox="0 0 24.4 12" xmlns="x"></svg>');
    expect(await upload(drawing)).toMatchObject({ width: 24, height: 12, preview: null, thumbnail: null });
    expect(await upload(svg(1))).toMatchObject({ width: null, height: null });
  });
});

// contract.md F46
it('is refused by name of its field when it is cut off, of another type, or has more than 40 million pixels', async () => {
  for (const format of FORMATS) {
    const whole = await noise(300, 200)
      .toFormat(format as Format)
      .toBuffer();
    for (const length of [whole.length - 1, whole.length >> 1, 40]) {
      expect(await refusal(whole.subarray(0, length)), `${format} ${length}`).toMatchObject({
        code: 'INVALID_REQUEST',
        pointer: '/file',
        message: expect.stringContaining('damaged'),
      });
    }
  }
  for (const text of ['\x89PNG\r\n\x1a\n<html>', 'GIF89a<script>', '\xff\xd8\xff junk', 'plain']) {
    expect(await refusal(Buffer.from(text, 'latin1'))).toMatchObject({
      code: 'INVALID_REQUEST',
      pointer: '/file',
    });
  }
  expect(await upload(png(8_000, 5_000))).toMatchObject({ width: 4_096 });
  const bomb = png(16_000, 16_000);
  expect(bomb.length).toBeLessThan(260_000);
  for (const many of [png(8_200, 5_000), bomb]) {
    expect(await refusal(many)).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('40 million'),
    });
  }
});

// contract.md F49
it('a generated image is a WebP of at most 1,600 or 1,200 pixels in width and 2 MiB with all that is stored of it', async () => {
  const drawn = await noise(1_800, 1_200).png().toBuffer();
  const hero = await media.processGenerated(drawn, 'hero');
  expect(hero).toMatchObject({ mediaType: 'image/webp', width: 1_600 });
  expect(await about(hero.preview?.bytes ?? drawn)).toMatchObject({ format: 'webp', width: 1_200 });
  const inline = await media.processGenerated(drawn, 'inline');
  expect(inline).toMatchObject({ mediaType: 'image/webp', width: 1_200, height: 800, preview: null });
  const tall = await encoded('jpeg', 400, 4_000);
  expect(await media.processGenerated(tall, 'inline')).toMatchObject({ width: 160, height: 1_600 });
  for (const image of [hero, inline]) expect(storedBytesOf(image)).toBeLessThanOrEqual(MAX_GENERATED_BYTES);
  const small = await noise(640, 360).withExif(GPS).jpeg().toBuffer();
  expect(await media.processGenerated(small, 'hero')).toMatchObject({
    width: 640,
    height: 360,
    preview: null,
  });
  await expect(media.processGenerated(svg(1), 'inline')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});
