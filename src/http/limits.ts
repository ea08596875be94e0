/** Maximum bytes of a JSON body, unless the route has its own. */
export const DEFAULT_BODY_BYTES = 64 * 1024;

const MIB = 1024 * 1024;
/** Memory for bodies, work on them and responses of all workspaces, in bytes: a quarter holds the largest image. */
export const ROOM_BYTES = 96 * MIB;
/** Memory for chunks of images that are being sent to strangers. */
export const STRANGERS_ROOM_BYTES = 8 * MIB;
/** Requests that may wait for memory, of one workspace and in all. Each holds at most 64 KiB of its body meanwhile. */
export const MAX_WAITING_FOR_ROOM = { perOwner: 500, total: 1_000 };
/** Bytes claimed for the response of a list, for comparing versions with their sources, and for anything else. */
export const LIST_BYTES = 512 * 1024;
export const COMPARING_BYTES = 12 * MIB;
export const RESPONSE_BYTES = 16 * 1024;
/** What a request may hold without a claim: the least of its response and of work on a small body. */
export const UNCLAIMED_BYTES = 32 * 1024;
/** Bytes in memory of a request that reads an article of so many bytes: its row, JSON and what is sent. */
export const bytesToRead = (articleBytes: number): number => RESPONSE_BYTES + 3 * articleBytes;
/** Bytes in memory per byte of a body: text and parsed value; for a document its renderings and the response, too. */
export const PER_JSON_BYTE = 4;
export const PER_DOCUMENT_BYTE = 16;

/** Bounds of the edge, from the configuration. */
export interface HttpLimits {
  /** How long a request waits for memory, and a large body for its turn, in milliseconds. */
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
