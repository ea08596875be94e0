import { NoResultError } from 'kysely';
import pg from 'pg';
import { errorKind } from '../db/error-kind.ts';
import { foreignKeyViolation } from '../db/errors.ts';
import { describeError } from '../error-text.ts';
import {
  type ErrorCode,
  type ErrorDetails,
  type FieldIssue,
  ServiceError,
  type UnavailableCause,
} from '../errors.ts';

/** Status and title of each code, paired only here. */
export const PROBLEMS = {
  INVALID_REQUEST: { status: 400, title: 'Invalid request' },
  UNAUTHENTICATED: { status: 401, title: 'Not authenticated' },
  INSUFFICIENT_CREDITS: { status: 402, title: 'Insufficient credits' },
  FORBIDDEN: { status: 403, title: 'Forbidden' },
  RESOURCE_NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  CONFLICT: { status: 409, title: 'Conflict' },
  GONE: { status: 410, title: 'Gone' },
  PRECONDITION_FAILED: { status: 412, title: 'Precondition failed' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'Payload too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported media type' },
  QUOTA_EXCEEDED: { status: 429, title: 'Quota exceeded' },
  RATE_LIMITED: { status: 429, title: 'Rate limited' },
  INTERNAL_ERROR: { status: 500, title: 'Internal error' },
  SERVICE_UNAVAILABLE: { status: 503, title: 'Service unavailable' },
} as const satisfies Record<ErrorCode, { status: number; title: string }>;

export const ERROR_CODES = Object.keys(PROBLEMS) as ErrorCode[];

/** The page name of a code: `INVALID_REQUEST` → `invalid-request`. */
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
  /** How many invalid fields `errors` leaves out; absent when there are none. */
  readonly errorsOmitted?: number;
}

/** The problem document of an error. */
export function toProblem(error: ServiceError, requestId: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  return {
    type: `/docs/errors/${problemSlug(error.code)}`,
    title,
    status: error.status ?? status,
    detail: error.message,
    code: error.code,
    requestId,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.issues === undefined ? {} : { errors: error.issues }),
    ...(error.issuesOmitted === 0 ? {} : { errorsOmitted: error.issuesOmitted }),
  };
}

/**
 * Errors by which Postgres ends a statement for the sake of others: a timeout of a statement, a lock or an idle
 * transaction, a deadlock, a serialization failure.
 */
const BUSY_SQLSTATES = new Set(['57014', '55P03', '25P03', '40P01', '40001']);
const isDatabaseBusy = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && BUSY_SQLSTATES.has(error.code ?? '');

/**
 * True when a row that existed before is gone: every foreign key here removes or clears what refers to a deleted row,
 * so a violation can only be a new reference to it.
 */
const isDeletedMeanwhile = (error: unknown): boolean =>
  error instanceof NoResultError || foreignKeyViolation(error) !== null;

/** Writes an error to the log. */
export type Report = (fields: object, message: string) => void;

/** All that a client sees of an unexpected error. */
export const UNEXPECTED = 'Something went wrong. Quote the requestId when you report it.';

/** By cause: what the log says of an error, and what the client gets; the first match counts. */
const CAUSES: readonly {
  readonly fits: (error: unknown) => boolean;
  readonly message: string;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly unavailable?: UnavailableCause;
}[] = [
  {
    fits: isDatabaseBusy,
    message: 'database busy',
    code: 'SERVICE_UNAVAILABLE',
    detail: 'The service is busy with other work on the same data. Try again shortly.',
    unavailable: 'database_busy',
  },
  {
    fits: isDeletedMeanwhile,
    message: 'deleted in the meantime',
    code: 'RESOURCE_NOT_FOUND',
    detail: 'Something this request uses was deleted in the meantime.',
  },
  {
    fits: (error) => errorKind(error) === 'transient',
    message: 'database unavailable',
    code: 'SERVICE_UNAVAILABLE',
    detail: 'The service cannot reach its database. Try again shortly.',
    unavailable: 'database_away',
  },
];
const UNKNOWN = { message: 'unexpected error', code: 'INTERNAL_ERROR', detail: UNEXPECTED } as const;

/**
 * Any thrown value as a refusal that a client may see. An unexpected error is logged, and its text never leaves the
 * log.
 */
export function toServiceError(error: unknown, report: Report, requestId: string): ServiceError {
  const log = (message: string) => report({ requestId, err: describeError(error) }, message);
  if (error instanceof ServiceError) {
    if (PROBLEMS[error.code].status >= 500) log('request failed');
    return error;
  }
  const { message, code, detail, ...more } = CAUSES.find(({ fits }) => fits(error)) ?? UNKNOWN;
  log(message);
  return new ServiceError(code, detail, { cause: error, ...more });
}
