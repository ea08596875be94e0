/** Whom work belongs to, so that no workspace takes more than its share of threads and memory. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ServiceError, unavailable } from '../errors.ts';

/** The memory of the request that work belongs to. */
export interface WorkRoom {
  /** Holds at least this many bytes, or returns false when there is no room for more. Does not wait. */
  readonly has: (bytes: number) => boolean;
  /**
   * Waits for this many bytes besides what the request itself needs. Nothing may be locked meanwhile.
   * @throws {ServiceError} SERVICE_UNAVAILABLE
   */
  readonly take: (bytes: number) => Promise<void>;
}

export interface Share {
  /** Usually the workspace's id. */
  readonly of: string;
  /** Milliseconds that work may wait for its turn. */
  readonly waitMs: number;
  /** Absent where no client waits for the work. */
  readonly room?: WorkRoom | undefined;
}

const NO_ROOM =
  'Too many large requests are being processed, or their responses are still being read. Try again shortly.';

/** 503 for a request that waited too long for memory. */
export const noRoom = (): ServiceError => unavailable('memory', NO_ROOM);

/** 503 for work that needs more memory than was claimed for it, when there is no more now. */
export class NoRoom extends ServiceError {
  /** Bytes that the request needs in all. */
  readonly bytes: number;

  constructor(bytes: number) {
    super('SERVICE_UNAVAILABLE', NO_ROOM, { unavailable: 'memory' });
    this.name = 'NoRoom';
    this.bytes = bytes;
  }
}

/** How long a request waits for its turn before it fails as unavailable. */
export const REQUEST_WAIT_MS = 10_000;
/** How long an activity waits for its turn before it is repeated. */
export const BACKGROUND_WAIT_MS = 30_000;
const NO_WORKSPACE: Share = { of: '', waitMs: REQUEST_WAIT_MS };
const storage = new AsyncLocalStorage<Share>();

/** Runs `work`, and everything it awaits, for a workspace. */
export const onBehalfOf = <Result>(
  of: string,
  work: () => Result,
  { waitMs = REQUEST_WAIT_MS, room }: Partial<Omit<Share, 'of'>> = {},
): Result => storage.run({ of, waitMs, room }, work);

/** `onBehalfOf` for work that no request waits for. */
export const inTheBackground = <Result>(of: string, work: () => Result): Result =>
  onBehalfOf(of, work, { waitMs: BACKGROUND_WAIT_MS });

export const currentShare = (): Share => storage.getStore() ?? NO_WORKSPACE;

/**
 * Makes sure that the current request holds room for what its length is known of only now, and which nothing is
 * committed of yet.
 * @throws {NoRoom} which rolls the transaction back
 */
export function requireRoom(bytes: number): void {
  if (currentShare().room?.has(bytes) === false) throw new NoRoom(bytes);
}
