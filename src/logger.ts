import { type Logger, pino } from 'pino';

/** JSON lines on stderr, so that stdout stays the command's own. Nothing that could hold a secret is logged whole. */
export const createLogger = (level: string, name: string): Logger =>
  pino(
    {
      name,
      level,
      redact: ['authorization', 'secret', 'key', 'headers', '*.authorization', '*.secret', '*.key_hash'],
      serializers: { err: describeError },
    },
    pino.destination({ fd: 2, sync: true }),
  );

/** An error's name, message and stack; not its properties, where drivers keep parameters. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const cause = error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : undefined;
  return { type: error.name, message: error.message, stack: error.stack, ...(cause && { cause }) };
}
