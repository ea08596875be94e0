/** Why a 3xx was not followed (contract.md D11). */
export type RefusedRedirect = 'no location' | 'too many' | 'bad url' | 'blocked';

/** A status line came back. Whatever happened to the body afterwards does not matter. */
export interface Responded {
  kind: 'responded';
  status: number;
  /** At most the first 1 KiB of the body, as text that Postgres stores: valid UTF-8 without NULs. */
  bodyText: string;
  durationMs: number;
  /** Set when a request was made once more, because the reused connection ended under the first. */
  repeated?: true;
  /** Redirects followed on the way to this response. */
  redirects: number;
  /** Set when the response is a redirect that was not followed. */
  refusedRedirect?: RefusedRedirect;
}

/** A blocked or unknown address, a network error or the timeout: there is no status. */
export interface NoResponse {
  kind: 'no-response';
  /** A sentence to show to the endpoint's owner. It names no address. */
  error: string;
  durationMs: number;
  /** As of {@link Responded}. */
  repeated?: true;
}

/** `beforeWrite` said stop. */
export interface Stopped {
  readonly kind: 'stopped';
  readonly reason: string;
}

export type SendOutcome = Responded | NoResponse | Stopped;

/** An outcome that counts as an attempt. */
export type SendResult = Responded | NoResponse;

/** What follows from an attempt (contract.md D6, D9 and D10). */
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

/** Why an attempt failed, as a delivery's errorMessage shows it; null after success. */
export function errorMessage(outcome: SendResult): string | null {
  if (outcome.kind === 'no-response') return outcome.error;
  const { status, refusedRedirect } = outcome;
  if (isSuccess(status)) return null;
  return refusedRedirect === undefined
    ? `The receiver responded with ${status}.`
    : `The receiver responded with ${status}, ${REFUSED_REDIRECT_MESSAGES[refusedRedirect]}`;
}

/** What an attempt came to, as the delivery's log and a ping tell it. */
export const attempted = (outcome: SendResult) => ({
  verdict: classify(outcome),
  responseStatus: outcome.kind === 'responded' ? outcome.status : null,
  errorMessage: errorMessage(outcome),
  durationMs: outcome.durationMs,
  responseBody: outcome.kind === 'responded' ? outcome.bodyText : null,
});
