/** Every code of an error response. Statuses and titles: src/http/problems.ts. */
export type ErrorCode =
  | 'INVALID_REQUEST'
  | 'UNAUTHENTICATED'
  | 'INSUFFICIENT_CREDITS'
  | 'FORBIDDEN'
  | 'RESOURCE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'CONFLICT'
  | 'GONE'
  | 'PRECONDITION_FAILED'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'QUOTA_EXCEEDED'
  | 'RATE_LIMITED'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_ERROR';

/** Why responses are 503, as `http_unavailable_total` counts them (contract.md O22); docs/metrics.md explains each. */
export const UNAVAILABLE_CAUSES = [
  'memory',
  'turns',
  'threads',
  'connections',
  'database_busy',
  'database_away',
  'contention',
  'images',
  'image_store',
  'model',
  'secrets',
  'too_slow',
] as const;
export type UnavailableCause = (typeof UNAVAILABLE_CAUSES)[number];

/** One bad field: a JSON pointer into the body (or `query/<name>`) and what is wrong with it. */
export interface FieldIssue {
  readonly pointer: string;
  readonly detail: string;
}

/** A proposal that cannot be accepted, and why. */
export interface UndecidedProposal {
  readonly id: string;
  readonly reason: 'changed' | 'full' | 'quota';
}

export interface ErrorDetails {
  readonly permissions?: readonly string[];
  readonly reason?: string;
  readonly proposals?: readonly UndecidedProposal[];
  /** Cursors: before the oldest event that is kept, and after the last one. */
  readonly oldest?: string;
  readonly latest?: string;
}

/** Bad fields that one response names, with the number of further ones. */
export const MAX_ISSUES = 50;

/**
 * A refusal that a client may see: `message` becomes the problem's detail, so it names no secret and says what to do
 * next.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  readonly issues: readonly FieldIssue[] | undefined;
  /** Bad fields beyond those of `issues`. */
  readonly issuesOmitted: number;
  /** Seconds until a retry. */
  readonly retryAfter: number | undefined;
  /** Another status than the code's. */
  readonly status: 408 | undefined;
  /** Of SERVICE_UNAVAILABLE: what was short. Not part of the response. */
  readonly unavailable: UnavailableCause | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    extra: {
      details?: ErrorDetails;
      issues?: readonly FieldIssue[];
      issuesOmitted?: number;
      retryAfter?: number;
      status?: 408;
      unavailable?: UnavailableCause;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: extra.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.details = extra.details;
    this.retryAfter = extra.retryAfter;
    this.status = extra.status;
    this.unavailable = extra.unavailable;
    this.issues = extra.issues?.slice(0, MAX_ISSUES);
    this.issuesOmitted = (extra.issuesOmitted ?? 0) + Math.max(0, (extra.issues?.length ?? 0) - MAX_ISSUES);
  }
}

/** 503, counted by what was short. */
export const unavailable = (
  short: UnavailableCause,
  message: string,
  extra: { retryAfter?: number; cause?: unknown } = {},
): ServiceError => new ServiceError('SERVICE_UNAVAILABLE', message, { ...extra, unavailable: short });

/** 503 for work that was ended at its time limit: unlike other 503, a retry would take as long. */
export class TooSlowError extends ServiceError {
  constructor(message: string, cause: unknown) {
    super('SERVICE_UNAVAILABLE', message, { cause, unavailable: 'too_slow' });
    this.name = 'TooSlowError';
  }
}

/** 404 for anything the caller may not know about: unknown, malformed and foreign ids alike. */
export const notFound = (what: string): ServiceError =>
  new ServiceError('RESOURCE_NOT_FOUND', `No such ${what}.`);

/** 400 naming one field by JSON pointer, such as `/language`. */
export const invalid = (pointer: string, detail: string): ServiceError =>
  new ServiceError('INVALID_REQUEST', detail, { issues: [{ pointer, detail }] });

/** 409, with `details.reason` where a client has to tell cases apart. */
export const conflict = (
  message: string,
  reason?: string,
  more: Omit<ErrorDetails, 'reason'> = {},
): ServiceError =>
  new ServiceError('CONFLICT', message, reason === undefined ? {} : { details: { reason, ...more } });

/** 401 for a key that is unknown, revoked or expired, without revealing which. */
export const keyRefused = (): ServiceError =>
  new ServiceError('UNAUTHENTICATED', 'The API key is not valid. It may be mistyped, expired or revoked.');
