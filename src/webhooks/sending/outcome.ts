/** Why a 3xx was not followed (contract.md D11). */
export type RefusedRedirect = 'no location' | 'too many' | 'bad url' | 'blocked';

/** A status line was received. Failures of the body afterwards do not matter. */
export interface Responded {
  kind: 'responded';
  status: number;
  /** At most the first 1 KiB of the body, as text that Postgres stores: valid UTF-8 without NULs. */
  bodyText: string;
  durationMs: number;
  /** Set when a request was repeated because the reused connection ended under the first. */
  repeated?: true;
  /** Set when a redirect led from https to http, and the body with it. */
  downgraded?: true;
  /** Redirects followed on the way to this response. */
  redirects: number;
  /** Set when the response is a redirect that was not followed. */
  refusedRedirect?: RefusedRedirect;
}

/** A blocked or unknown address, a network error or the timeout: there is no status. */
export interface NoResponse {
  kind: 'no-response';
  /** A sentence for the endpoint's owner. Names no address. */
  error: string;
  durationMs: number;
  /** As of {@link Responded}. */
  repeated?: true;
  downgraded?: true;
}

/** `beforeWrite` returned stop. */
export interface Stopped {
  readonly kind: 'stopped';
  readonly reason: string;
}

export type SendOutcome = Responded | NoResponse | Stopped;

/** An outcome that counts as an attempt. */
export type SendResult = Responded | NoResponse;

/** The consequence of an attempt (contract.md D6, D9 and D10). */
export function classify(outcome: SendResult): 'succeeded' | 'retry' | 'failed' {
  if (outcome.kind === 'no-response') return 'retry';
  const { status } = outcome;
  if (isSuccess(status)) return 'succeeded';
  return status === 429 || (status >= 500 && status <= 599) ? 'retry' : 'failed';
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

const REFUSED_REDIRECT_MESSAGES = {
  'no location': 'a redirect without a Location.',
  'too many': 'too many redirects (limit 3).',
  'bad url': 'a redirect to a URL that is not allowed.',
  blocked: 'a redirect that does not point to a public address.',
} satisfies Record<RefusedRedirect, string>;

/** Why an attempt failed, for a delivery's errorMessage; null after success. */
export function errorMessage(outcome: SendResult): string | null {
  if (outcome.kind === 'no-response') return outcome.error;
  const { status, refusedRedirect } = outcome;
  if (isSuccess(status)) return null;
  return refusedRedirect === undefined
    ? `The receiver responded with ${status}.`
    : `The receiver responded with ${status}, ${REFUSED_REDIRECT_MESSAGES[refusedRedirect]}`;
}

/** The outcome of an attempt as the delivery's log and a ping show it. */
export const attempted = (outcome: SendResult) => ({
  verdict: classify(outcome),
  responseStatus: outcome.kind === 'responded' ? outcome.status : null,
  errorMessage: errorMessage(outcome),
  durationMs: outcome.durationMs,
  responseBody: outcome.kind === 'responded' ? outcome.bodyText : null,
  ...(outcome.downgraded ? { note: 'redirected to http' as const } : {}),
});
