/** Bytes of a JSON body, for routes that do not say otherwise. */
export const DEFAULT_BODY_BYTES = 64 * 1024;

/** Bounds of the edge, from the configuration. */
export interface HttpLimits {
  /** Milliseconds that a large body waits for its turn, and a large response for room. */
  readonly largeBodyWaitMs: number;
  /** Requests a minute of one key; 0 turns this limit and that of the workspace off. */
  readonly perKey: number;
  /** Requests a minute of all keys of one workspace; 0 turns it off. */
  readonly perWorkspace: number;
  /** Requests a minute of one client address for what needs no key, but for probes; 0 turns it off. */
  readonly perAddress: number;
  /** Failed authentications a minute of one client address; 0 turns it off. */
  readonly authFailures: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  largeBodyWaitMs: 10_000,
  perKey: 6_000,
  perWorkspace: 24_000,
  perAddress: 6_000,
  authFailures: 300,
};
