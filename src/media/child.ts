/** The process that decodes images: one at a time, from its input to its output. It ends with its parent. */
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { MAX_IMAGE_BYTES } from '../blobs/asset.ts';
import { decode, limitDecoders, UnusableImage } from './decode.ts';
import { createReader, type MediaResult, mediaJobSchema, writeHead } from './wire.ts';

/** Requests come before images. */
const NICENESS = 10;
/** When memory runs out, this process goes first. */
const KILLED_FIRST = '800';

setPriority(NICENESS);
try {
  writeFileSync('/proc/self/oom_score_adj', KILLED_FIRST);
} catch {
  // Not Linux.
}
limitDecoders();

const read = createReader((head) => mediaJobSchema.parse(head), MAX_IMAGE_BYTES);

async function respond(head: Parameters<typeof decode>[0], bytes: Buffer): Promise<void> {
  const parts: Buffer[] = [];
  let result: MediaResult;
  try {
    const { image, preview, thumbnail, ...about } = await decode(head, bytes);
    if (image !== null && image.length > MAX_IMAGE_BYTES) throw new UnusableImage('bytes');
    for (const part of [image, preview, thumbnail]) if (part !== null) parts.push(part);
    const lengths = [image?.length ?? 0, preview?.length ?? 0, thumbnail.length] as const;
    result = { ok: true, ...about, lengths: [...lengths] };
  } catch (error) {
    if (!(error instanceof UnusableImage)) throw error;
    result = { ok: false, problem: error.problem, lengths: [] };
  }
  process.stdout.write(writeHead(result));
  for (const part of parts) process.stdout.write(part);
}

process.stdin.on('data', (chunk: Buffer) => {
  for (const { head, parts } of read(chunk)) void respond(head, parts[0] ?? Buffer.alloc(0));
});
// The parent has ended. A decoder that is at work would hold up any other end.
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL'));
process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'));
