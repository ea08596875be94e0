import { NoResultError } from 'kysely';
import pg from 'pg';
import { foreignKeyViolation } from '../db/errors.ts';
import { describeError, errorCode } from '../error-text.ts';
import { type ErrorCode, type ErrorDetails, type FieldIssue, ServiceError } from '../errors.ts';

/** Status and title of each code: the one place where they are paired. */
export const PROBLEMS = {
  INVALID_REQUEST: { status: 400, title: 'Invalid request' },
  UNAUTHENTICATED: { status: 401, title: 'Not authenticated' },
  INSUFFICIENT_CREDITS: { status: 402, title: 'Insufficient credits' },
  FORBIDDEN: { status: 403, title: 'Forbidden' },
  RESOURCE_NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  CONFLICT: { status: 409, title: 'Conflict' },
  PRECONDITION_FAILED: { status: 412, title: 'Precondition failed' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'Payload too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported media type' },
  QUOTA_EXCEEDED: { status: 429, title: 'Quota exceeded' },
  RATE_LIMITED: { status: 429, title: 'Rate limited' },
  INTERNAL_ERROR: { status: 500, title: 'Internal error' },
  SERVICE_UNAVAILABLE: { status: 503, title: 'Service unavailable' },
} as const satisfies Record<ErrorCode, { status: number; title: string }>;

export const ERROR_CODES = Object.keys(PROBLEMS) as ErrorCode[];

/** The name of a code's page: `INVALID_REQUEST` → `invalid-request`. */
export const problemSlug = (code: ErrorCode): string => code.toLowerCase().replaceAll('_', '-');

/** The body of every error response, as application/problem+json (RFC 9457). */
export interface Problem {
  /** The page that explains the code, relative to the service. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly details?: ErrorDetails;
  readonly errors?: readonly FieldIssue[];
  /** The number of invalid fields that `errors` leaves out; absent when there are none. */
  readonly errorsOmitted?: number;
}

/** The problem a client sees of an error. */
export function toProblem(error: ServiceError, requestId: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  return {
    type: `/docs/errors/${problemSlug(error.code)}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    requestId,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.issues === undefined ? {} : { errors: error.issues }),
    ...(error.issuesOmitted === 0 ? {} : { errorsOmitted: error.issuesOmitted }),
  };
}

/** Connection failures (08), insufficient resources (53), shutdown and cancelled statements (57). */
const UNAVAILABLE_SQLSTATE = /^(?:08|53|57)/;
const UNAVAILABLE_ERRNO = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
/** node-postgres reports these as plain errors without a code. */
const UNAVAILABLE_MESSAGE =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after)/;

/** True for an error that means: the database cannot be reached or has no room now. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (!(error instanceof Error)) return false;
  const code = errorCode(error) ?? '';
  if (error instanceof pg.DatabaseError) return UNAVAILABLE_SQLSTATE.test(code);
  const isSocketError = 'syscall' in error && UNAVAILABLE_ERRNO.has(code);
  return isSocketError || UNAVAILABLE_MESSAGE.test(error.message);
}

/**
 * Errors by which Postgres ends a statement so that others can continue: a time limit of a statement, of a lock or of an
 * idle transaction, a deadlock, a serialization failure.
 */
const BUSY_SQLSTATES = new Set(['57014', '55P03', '25P03', '40P01', '40001']);
const isDatabaseBusy = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && BUSY_SQLSTATES.has(error.code ?? '');

/**
 * True when a row that was there before is gone: every foreign key here removes or empties what refers to a
 * deleted row, so a broken one can only be a new reference to it.
 */
const isDeletedMeanwhile = (error: unknown): boolean =>
  error instanceof NoResultError || foreignKeyViolation(error) !== null;

/** Writes an error into the log. */
export type Report = (fields: object, message: string) => void;

/** All that a client sees of an unexpected error. */
export const UNEXPECTED = 'Something went wrong. Quote the requestId when you report it.';

/**
 * Any thrown value as a refusal a client may see. An unexpected error is logged, and its
 * text never leaves the log.
 */
export function toServiceError(error: unknown, report: Report, requestId: string): ServiceError {
  if (error instanceof ServiceError) {
    if (PROBLEMS[error.code].status >= 500) {
      report({ requestId, err: describeError(error) }, 'request failed');
    }
    return error;
  }
  if (isDatabaseBusy(error)) {
    report({ requestId, err: describeError(error) }, 'database busy');
    return new ServiceError(
      'SERVICE_UNAVAILABLE',
      'The service is busy with other work on the same data. Try again shortly.',
      { cause: error },
    );
  }
  if (isDeletedMeanwhile(error)) {
    report({ requestId, err: describeError(error) }, 'deleted in the meantime');
    return new ServiceError(
      'RESOURCE_NOT_FOUND',
      'Something this request uses was deleted in the meantime.',
      {
        cause: error,
      },
    );
  }
  if (isDatabaseUnavailable(error)) {
    report({ requestId, err: describeError(error) }, 'database unavailable');
    return new ServiceError(
      'SERVICE_UNAVAILABLE',
      'The service cannot reach its database. Try again shortly.',
      { cause: error },
    );
  }
  report({ requestId, err: describeError(error) }, 'unexpected error');
  return new ServiceError('INTERNAL_ERROR', UNEXPECTED, { cause: error });
}
