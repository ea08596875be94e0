/** Calls an engine over HTTP with a deadline, and classifies failures. */
import { ProviderError } from './types.ts';

/** The longest Retry-After to wait for, in milliseconds. Beyond it the job fails and can be started again. */
const LONGEST_WAIT_MS = 3_600_000;

/** An engine as error messages name it. */
export interface EngineNames {
  readonly engine: string;
  /** The variables an operator checks when address or credentials are refused. */
  readonly addressVariables: string;
  readonly keyVariable: string;
}

export interface CallLimits {
  /** Milliseconds for the whole call, with the response body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Sends one request and reads the whole response, whatever its status.
 * @throws {ProviderError} retryable when there is no response in time; the signal's reason when aborted
 */
export async function callEngine(
  names: EngineNames,
  url: URL,
  init: RequestInit,
  { timeoutMs, signal }: CallLimits,
): Promise<HttpResponse> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, deadline]) });
    return { status: response.status, headers: response.headers, body: await response.text() };
  } catch (error) {
    throw noResponse(names, error, { timeoutMs, signal, deadline });
  }
}

/** Why a call ended without a response: aborted by the caller, out of time, or a broken connection. */
export function noResponse(
  { engine, addressVariables }: EngineNames,
  error: unknown,
  { timeoutMs, signal, deadline }: CallLimits & { deadline: AbortSignal },
): unknown {
  if (signal.aborted) return signal.reason;
  if (deadline.aborted) {
    return new ProviderError('retryable', `${engine} did not respond within ${timeoutMs / 1_000} s.`);
  }
  return new ProviderError(
    'retryable',
    `${engine} could not be reached. If this lasts, check ${addressVariables}.`,
    { cause: error },
  );
}

/** Errors of a connection that was never made, so that nothing was written to it. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|EPROTO|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|UNABLE_TO_\w+|\w*SELF_SIGNED_CERT\w*|HOSTNAME_MISMATCH)$/;

/** False when a failed call did not reach the engine: no address, no connection, no certificate to trust. */
export function wasRequestWritten(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('syscall' in cause && cause.syscall === 'connect') return false;
    if ('code' in cause && typeof cause.code === 'string' && NEVER_CONNECTED.test(cause.code)) return false;
  }
  return true;
}

/**
 * Classifies an error response. The message contains only its status and a machine-readable code: an engine's own
 * wording may repeat a part of the key or the text.
 */
export function statusError(
  { engine, addressVariables, keyVariable }: EngineNames,
  { status, headers, code }: { status: number; headers: Headers; code?: string | undefined },
): ProviderError {
  const what = `HTTP ${status}${code === undefined ? '' : `, ${code}`}`;
  if (status === 401 || status === 403) {
    return new ProviderError(
      'misconfigured',
      `${engine} refused the credentials (${what}). Check ${keyVariable}.`,
    );
  }
  if (status === 404) {
    return new ProviderError(
      'misconfigured',
      `${engine} did not find what was requested (${what}). Check ${addressVariables}.`,
    );
  }
  if (status === 402 || status === 456 || code === 'insufficient_quota') {
    return new ProviderError('misconfigured', `The quota of the account at ${engine} is used up (${what}).`);
  }
  if (status < 500 && ![408, 409, 425, 429].includes(status)) {
    return new ProviderError('fatal', `${engine} did not accept the request (${what}).`);
  }
  const retryAfterMs = readRetryAfter(headers);
  if (retryAfterMs !== undefined && retryAfterMs > LONGEST_WAIT_MS) {
    const minutes = Math.ceil(retryAfterMs / 60_000);
    return new ProviderError('unavailable', `${engine} asks for a retry in ${minutes} minutes (${what}).`);
  }
  const limited = status === 429;
  const message = limited ? `${engine} limits the rate (${what}).` : `${engine} is unavailable (${what}).`;
  return new ProviderError('retryable', message, {
    limited,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Retry-After in seconds or as a date (RFC 9110, 10.2.3), or `retry-after-ms`; in milliseconds. */
function readRetryAfter(headers: Headers, now = Date.now()): number | undefined {
  const milliseconds = headers.get('retry-after-ms');
  if (milliseconds !== null && /^\d{1,12}(\.\d+)?$/.test(milliseconds)) return Number(milliseconds);
  const given = headers.get('retry-after');
  if (given === null) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(given)) return Number(given) * 1_000;
  const date = Date.parse(given);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** A whole body, decompressed. @throws what `tooLarge` makes beyond `maxBytes`; the rest is cancelled then */
export async function readBounded(
  response: Response,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the rest.
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** A machine-readable code; undefined for anything that could be prose or a secret. */
export function machineCode(code: unknown, secret: string | undefined): string | undefined {
  return typeof code === 'string' && /^[a-z][a-z0-9_.-]{1,63}$/i.test(code) && code !== secret
    ? code
    : undefined;
}

/** `base` with `path` after its own path, whether or not it ends in a slash. */
export function joinUrl(base: string, path: string): URL {
  return new URL(path, base.endsWith('/') ? base : `${base}/`);
}
