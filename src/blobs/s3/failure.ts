import { errorCode } from '../../error-text.ts';
import { BlobStoreError } from '../blob-store.ts';

/** A call to S3 that failed. */
export class S3Failure extends BlobStoreError {
  /** The status of the response; undefined when there was none. */
  readonly status: number | undefined;
  /** The wait that the response asks for, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    extra: { retryable: boolean; status?: number; retryAfterMs?: number; cause?: unknown },
  ) {
    super(message, extra);
    this.status = extra.status;
    this.retryAfterMs = extra.retryAfterMs ?? 0;
  }
}

/** Conflicts of two writers (409), timeouts, limits of the rate, and all that S3 itself calls its own fault. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504]);
const RETRYABLE_CODES: ReadonlySet<string | undefined> = new Set([
  'RequestTimeout',
  'SlowDown',
  'InternalError',
]);

/** A machine-readable code of an error response, which else repeats the request with its signature. */
const CODE = /<Code>([A-Za-z][A-Za-z0-9.]{1,63})<\/Code>/;

const HINTS: Readonly<Record<number, string>> = {
  301: ' Check S3_REGION and S3_ENDPOINT.',
  307: ' Check S3_REGION and S3_ENDPOINT.',
  401: ' Check S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.',
  403: ' Check S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, their permissions, S3_REGION and the clock of this machine.',
  404: ' Check S3_BUCKET and S3_PATH_STYLE.',
  501: ' The store does not know what was requested: conditional writes are needed (If-None-Match).',
};

/** The failure that a response states. @param text the beginning of its body */
export function responseFailure(
  method: string,
  status: number,
  text: string,
  retryAfter: string | undefined,
): S3Failure {
  const [, code] = CODE.exec(text) ?? [];
  const what = `HTTP ${status}${code === undefined ? '' : `, ${code}`}`;
  return new S3Failure(`The image store did not accept ${method} (${what}).${HINTS[status] ?? ''}`, {
    status,
    retryable: RETRYABLE_STATUSES.has(status) || RETRYABLE_CODES.has(code),
    ...(retryAfter !== undefined && /^\d{1,4}$/.test(retryAfter)
      ? { retryAfterMs: Number(retryAfter) * 1_000 }
      : {}),
  });
}

/** The failure of a call without a whole response. */
export function connectionFailure(method: string, error: unknown): S3Failure {
  if (error instanceof S3Failure) return error;
  const code = errorCode(error);
  return new S3Failure(
    `The image store sent no whole response to ${method}${code === undefined ? '' : ` (${code})`}. Check S3_ENDPOINT if this lasts.`,
    { retryable: true, cause: error },
  );
}
