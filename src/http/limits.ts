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

/** A workspace's own limits, requests a minute; 0 disables one, null leaves the configured one. */
export interface RequestLimits {
  readonly requestsPerKey: number | null;
  readonly requestsPerWorkspace: number | null;
}

/** The limits that hold for a workspace, requests a minute; 0 is none (contract.md A31). */
export const requestLimits = (
  { perKey, perWorkspace }: Pick<HttpLimits, 'perKey' | 'perWorkspace'>,
  { requestsPerKey, requestsPerWorkspace }: RequestLimits,
): { readonly key: number; readonly workspace: number } => ({
  key: requestsPerKey ?? perKey,
  workspace: requestsPerWorkspace ?? (perKey === 0 ? 0 : perWorkspace),
});
