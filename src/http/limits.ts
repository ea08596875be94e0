/** Maximum bytes of a JSON body, unless the route has its own. */
export const DEFAULT_BODY_BYTES = 64 * 1024;

/** Bounds of the edge, from the configuration. */
export interface HttpLimits {
  /** How long a large body waits for its turn, and a large response for memory, in milliseconds. */
  readonly largeBodyWaitMs: number;
  /** Requests a minute of one key; 0 disables this limit and that of the workspace. */
  readonly perKey: number;
  /** Requests a minute of all keys of one workspace; 0 disables it. */
  readonly perWorkspace: number;
  /** Requests a minute without a key of one client address, except probes; 0 disables it. */
  readonly perAddress: number;
  /** Failed authentications a minute of one client address; 0 disables it. */
  readonly authFailures: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  largeBodyWaitMs: 10_000,
  perKey: 6_000,
  perWorkspace: 24_000,
  perAddress: 6_000,
  authFailures: 300,
};
