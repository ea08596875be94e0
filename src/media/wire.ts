/** What goes over the two pipes of a process that decodes images: a head, and after it bytes of the lengths it says. */
import { z } from 'zod';

export const MEDIA_PROBLEMS = ['damaged', 'pixels', 'bytes'] as const;
/** Why an image cannot be used: no whole image of its type, too many pixels, or too many bytes once re-encoded. */
export type MediaProblem = (typeof MEDIA_PROBLEMS)[number];

export const mediaJobSchema = z.object({
  kind: z.enum(['upload', 'hero', 'inline']),
  mediaType: z.string(),
  lengths: z.tuple([z.int().min(0)]),
});
export type MediaJob = Omit<z.infer<typeof mediaJobSchema>, 'lengths'>;

/** Lengths of image (0: as it came), preview (0: none) and thumbnail. */
export const mediaResultSchema = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    mediaType: z.string(),
    width: z.int().min(1),
    height: z.int().min(1),
    lengths: z.tuple([z.int().min(0), z.int().min(0), z.int().min(0)]),
  }),
  z.object({ ok: z.literal(false), problem: z.enum(MEDIA_PROBLEMS), lengths: z.tuple([]) }),
]);
export type MediaResult = z.infer<typeof mediaResultSchema>;

interface Head {
  readonly lengths: readonly number[];
}

const LENGTH_BYTES = 4;
const MAX_HEAD_BYTES = 4_096;

/** The bytes of a head, before those it announces. */
export function writeHead(head: Head): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text]);
}

/** A head, and the bytes that it announced. */
export interface Message<Kind extends Head> {
  readonly head: Kind;
  readonly parts: readonly Buffer[];
}

/**
 * Reads messages from the chunks of a pipe. Each byte is copied once, into a buffer of the length that was announced.
 * @throws Error for what is no message, or one with more than `maxBytes`
 */
export function createReader<Kind extends Head>(parse: (head: unknown) => Kind, maxBytes: number) {
  let target = Buffer.alloc(LENGTH_BYTES);
  let filled = 0;
  let stage: 'length' | 'head' | 'bytes' = 'length';
  let head: Kind | undefined;

  const begin = (next: typeof stage, bytes: number): void => {
    stage = next;
    target = Buffer.allocUnsafeSlow(bytes);
    filled = 0;
  };

  /** Goes on with what was read; returns a message once it is whole. */
  const advance = (): Message<Kind> | null => {
    if (stage === 'length') {
      const length = target.readUInt32BE(0);
      if (length === 0 || length > MAX_HEAD_BYTES)
        throw new Error('A message of another shape came from a pipe.');
      begin('head', length);
      return null;
    }
    if (stage === 'head') {
      head = parse(JSON.parse(target.toString('utf8')));
      const bytes = head.lengths.reduce((sum, length) => sum + length, 0);
      if (bytes > maxBytes) throw new Error('A message from a pipe is too long.');
      begin('bytes', bytes);
      if (bytes > 0) return null;
    }
    const whole = target;
    if (head === undefined) throw new Error('A message without a head came from a pipe.');
    let from = 0;
    const parts = head.lengths.map((length) => {
      from += length;
      return whole.subarray(from - length, from);
    });
    begin('length', LENGTH_BYTES);
    return { head, parts };
  };

  return function* (chunk: Buffer): Generator<Message<Kind>> {
    for (let from = 0; from < chunk.length; ) {
      const copied = chunk.copy(target, filled, from);
      from += copied;
      filled += copied;
      if (filled < target.length) continue;
      const message = advance();
      if (message !== null) yield message;
    }
  };
}
