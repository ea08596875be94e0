import { type Logger, pino } from 'pino';
import { describeError } from './error-text.ts';

/** Lines are written together when they come to this many bytes, and after this many milliseconds at the latest. */
const BUFFER_BYTES = 8 * 1024;
const BUFFER_MS = 100;

/**
 * JSON lines on stderr, so that stdout stays the command's own. Nothing that could hold a secret is logged
 * whole. Lines are buffered, but for fatal ones, and none is lost when the process ends, even by an uncaught
 * error; only a kill from outside can lose the last tenth of a second.
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
      // Whoever read the log is gone.
    }
  });
  // What is not a level is for the configuration to refuse, in words that this logger's owner can still write.
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
