import { readdirSync, readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll } from 'vitest';
import { createMediaProcessor, type LocalMediaProcessor } from '../../src/media/processor.ts';
import { logger } from './service.ts';

/** Decodes images in processes that end with the test file. It is patient: other tests may keep the machine busy. */
export function useTestMedia(): LocalMediaProcessor {
  const media = createMediaProcessor({ logger, waitMs: 120_000, timeoutMs: 60_000 });
  afterAll(() => media.close());
  return media;
}

/** Processes of this one that decode images. */
export const decoders = (): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return Number(parent) === process.pid && command.includes('media/child.ts');
      } catch {
        // It has ended, or is no process.
        return false;
      }
    });

/** An SVG of its own for every number, of about so many bytes: it is stored as it is and has no preview. */
export const svg = (number: number, bytes = 0): Buffer =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><!-- image ${number} ${'x'.repeat(bytes)} --></svg>`);

/** A chunk of a PNG. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** A PNG of 8 bits: grey without pixels, else RGB. Level 0 stores the pixels as they are. */
export function png(width: number, height: number, pixels?: Buffer, level = 9): Buffer {
  const isGrey = pixels === undefined;
  const row = 1 + width * (isGrey ? 1 : 3);
  const lines = Buffer.alloc(row * height);
  if (!isGrey)
    for (let y = 0; y < height; y += 1) pixels.copy(lines, y * row + 1, y * (row - 1), (y + 1) * (row - 1));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, isGrey ? 0 : 2, 0, 0, 0], 8);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', head),
    pngChunk('IDAT', deflateSync(lines, { level })),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}
