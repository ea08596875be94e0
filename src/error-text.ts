/** Errors as text: for decisions, for people, for the log. */

const SECRET = /(wcsk_|whsec_)[A-Za-z0-9_+/=-]+/g;

/** How deep causes are logged. */
const MAX_CAUSES = 4;

/** The text with every API key or webhook secret cut to its marker. */
export const redactSecrets = (text: string): string => text.replace(SECRET, '$1[redacted]');

/** The `code` of a Node.js system error, such as ENOENT; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The message of whatever was thrown. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Descriptions, so that the logger does not describe one again. */
const described = new WeakSet<object>();

/** An error as the log may show it, under `err`: no bound values, no row contents, no keys or secrets. */
export function describeError(error: unknown): object {
  if (typeof error === 'object' && error !== null && described.has(error)) return error;
  const description = describe(error, MAX_CAUSES);
  described.add(description);
  return description;
}

function describe(error: unknown, causes: number): object {
  if (!(error instanceof Error)) return { message: redactSecrets(String(error)) };
  const extra: Record<string, unknown> = {};
  for (const field of ['code', 'constraint', 'table', 'syscall'] as const) {
    const value: unknown = Reflect.get(error, field);
    if (typeof value === 'string') extra[field] = value;
  }
  return {
    type: error.name,
    message: redactSecrets(error.message),
    ...extra,
    stack: redactSecrets(error.stack ?? ''),
    ...(error.cause === undefined || causes === 0 ? {} : { cause: describe(error.cause, causes - 1) }),
  };
}
