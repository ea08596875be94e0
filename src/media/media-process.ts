import { type ChildProcess, spawn } from 'node:child_process';
import { MAX_IMAGE_BYTES } from '../blobs/asset.ts';
import { MAX_VARIANT_BYTES } from './limits.ts';
import {
  createReader,
  type MediaJob,
  type MediaResult,
  type Message,
  mediaResultSchema,
  writeHead,
} from './wire.ts';

/** A process that decodes images, one at a time. */
export interface MediaProcess {
  readonly pid: number | undefined;
  /**
   * @throws Error when the process ends first, or takes too long and is ended; it takes no further image then
   */
  run(job: MediaJob, bytes: Uint8Array, timeoutMs: number): Promise<Message<MediaResult>>;
  /** Whether it takes another image. */
  isAlive(): boolean;
  /** Ends it at once, in the middle of an image too. */
  kill(): void;
}

const CHILD = new URL('./child.ts', import.meta.url).pathname;
/** Its heap: the bytes of images are outside it. */
const HEAP_MB = 64;
/** Of what it writes to its standard error before it ends. */
const MAX_LAST_WORDS = 2_048;
/** glibc keeps freed memory for each of its arenas; a container may have no folder for pictures on disk. */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2', VIPS_DISC_THRESHOLD: '1g', NODE_NO_WARNINGS: '1' };

/**
 * Starts one. It gets no secret of this process: neither its environment nor its open files.
 * @param onEnd why it ended, unless this process ended it
 */
export function startMediaProcess(onEnd: (reason: string) => void): MediaProcess {
  const child: ChildProcess = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, CHILD], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: ENVIRONMENT,
  });
  let alive = true;
  let killed = false;
  let lastWords = '';
  let waiting:
    | { resolve: (message: Message<MediaResult>) => void; reject: (error: Error) => void }
    | undefined;

  const end = (reason: string): void => {
    if (!alive) return;
    alive = false;
    waiting?.reject(new Error(`The process that decodes images ended: ${reason}.`));
    waiting = undefined;
    if (!killed) onEnd(`${reason} ${lastWords}`.trim());
  };
  const kill = (): void => {
    killed = true;
    child.kill('SIGKILL');
  };
  const read = createReader((head) => mediaResultSchema.parse(head), MAX_IMAGE_BYTES + MAX_VARIANT_BYTES);

  child.on('error', (error) => end(error.message));
  child.on('exit', (code, signal) => end(signal ?? `exit code ${code}`));
  child.stderr?.on('data', (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString('utf8')).slice(-MAX_LAST_WORDS);
  });
  child.stdin?.on('error', () => child.kill('SIGKILL'));
  child.stdout?.on('data', (chunk: Buffer) => {
    try {
      for (const message of read(chunk)) {
        waiting?.resolve(message);
        waiting = undefined;
      }
    } catch (error) {
      child.kill('SIGKILL');
      end(String(error));
    }
  });

  return {
    pid: child.pid,
    isAlive: () => alive,
    kill,
    async run(job, bytes, timeoutMs) {
      if (!alive) throw new Error('The process that decodes images has ended.');
      const result = new Promise<Message<MediaResult>>((resolve, reject) => {
        waiting = { resolve, reject };
      });
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        end(`an image took longer than ${timeoutMs} ms`);
      }, timeoutMs);
      try {
        child.stdin?.write(writeHead({ ...job, lengths: [bytes.byteLength] }));
        child.stdin?.write(bytes);
        return await result;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
