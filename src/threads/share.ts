/** The workspace that work belongs to, so that none takes more than its share of the threads. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Share {
  /** Usually the workspace's id. */
  readonly of: string;
  /** Milliseconds that work may wait for its turn. */
  readonly waitMs: number;
}

/** How long a request waits for its turn before it fails as unavailable. */
export const REQUEST_WAIT_MS = 10_000;
/** How long an activity waits for its turn before it is repeated. */
export const BACKGROUND_WAIT_MS = 30_000;
const NO_WORKSPACE: Share = { of: '', waitMs: REQUEST_WAIT_MS };
const storage = new AsyncLocalStorage<Share>();

/** Runs `work`, and everything it awaits, for a workspace. */
export function onBehalfOf<Result>(of: string, work: () => Result, waitMs = REQUEST_WAIT_MS): Result {
  return storage.run({ of, waitMs }, work);
}

/** `onBehalfOf` for work that no request waits for. */
export const inTheBackground = <Result>(of: string, work: () => Result): Result =>
  onBehalfOf(of, work, BACKGROUND_WAIT_MS);

export const currentShare = (): Share => storage.getStore() ?? NO_WORKSPACE;
