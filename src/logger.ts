import { type Logger, pino } from 'pino';
import { describeError } from './error-text.ts';

/** Lines are written together at this many bytes, or after this many milliseconds. */
const BUFFER_BYTES = 8 * 1024;
const BUFFER_MS = 100;

/**
 * JSON lines on stderr; stdout belongs to the command. Nothing that could hold a secret is logged whole. Lines are
 * buffered, except fatal ones, and flushed when the process ends, even by an uncaught error; only a kill can lose the
 * last tenth of a second.
 */
export function createLogger(level: string, name: string): Logger {
  const destination = pino.destination({
    fd: 2,
    sync: true,
    minLength: BUFFER_BYTES,
    periodicFlush: BUFFER_MS,
  });
  process.once('exit', () => {
    try {
      destination.flushSync();
    } catch {
      // The reader of the log is gone.
    }
  });
  // An unknown level is refused by the configuration, which needs a logger to say so.
  const known = level === 'silent' || Object.hasOwn(pino.levels.values, level);
  return pino(
    {
      name,
      level: known ? level : 'info',
      redact: ['authorization', 'secret', 'key', 'headers', '*.authorization', '*.secret', '*.key_hash'],
      serializers: { err: describeError },
    },
    destination,
  );
}
