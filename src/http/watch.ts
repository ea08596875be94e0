import type { EventEmitter } from 'node:events';
import { ServiceError } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';

/** Requests that wait at once in this process, of all workspaces. */
const MAX_WAITS = 1_000;

export interface WatchOptions<Key> {
  /** How often everything that requests wait for is read, in one statement; milliseconds. */
  readonly everyMs: number;
  /** Requests of one workspace that wait at once in this process. */
  readonly perWorkspace: number;
  /** What they wait for: "jobs". */
  readonly what: string;
  /** The present tag of each of these; absent for one that is gone. */
  readonly read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, string>>;
}

/** Lets requests wait for a change: one statement each time, however many wait. */
export interface Watch<Key> {
  /**
   * Resolves when the key's tag differs from `seen` or it is gone, after `waitMs`, or when the client or the process is
   * gone.
   * @returns whether it has changed
   * @throws {ServiceError} RATE_LIMITED when too many wait already
   */
  untilChanged(
    workspaceId: WorkspaceId,
    key: Key,
    seen: string,
    waitMs: number,
    connection?: EventEmitter,
  ): Promise<boolean>;
  /** Ends all waits; later ones end at once. */
  close(): void;
}

interface Waiter<Key> {
  readonly key: Key;
  readonly seen: string;
  readonly wake: (changed: boolean) => void;
}

export function createWatch<Key>({ everyMs, perWorkspace, what, read }: WatchOptions<Key>): Watch<Key> {
  const waiters = new Set<Waiter<Key>>();
  const waiting = new Map<WorkspaceId, number>();
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const poll = async (): Promise<void> => {
    const keys = [...new Set([...waiters].map(({ key }) => key))];
    const tags = await read(keys);
    for (const { key, seen, wake } of waiters) {
      if (keys.includes(key) && tags.get(key) !== seen) wake(true);
    }
  };
  const schedule = (): void => {
    if (timer !== undefined || waiters.size === 0) return;
    timer = setTimeout(() => {
      // A database that is away is read again later: the waits are bounded, and each response reads by itself.
      poll()
        .catch(() => undefined)
        .finally(() => {
          timer = undefined;
          schedule();
        });
    }, everyMs);
  };

  return {
    async untilChanged(workspaceId, key, seen, waitMs, connection) {
      if (closed) return false;
      const count = waiting.get(workspaceId) ?? 0;
      if (count >= perWorkspace || waiters.size >= MAX_WAITS) {
        throw new ServiceError(
          'RATE_LIMITED',
          `Too many requests are waiting for ${what}. Send the request without \`wait\`.`,
          { retryAfter: 1 },
        );
      }
      waiting.set(workspaceId, count + 1);
      const { promise, resolve: wake } = Promise.withResolvers<boolean>();
      const waiter = { key, seen, wake };
      waiters.add(waiter);
      const give = () => wake(false);
      const over = setTimeout(give, waitMs);
      connection?.once('close', give);
      schedule();
      const changed = await promise;
      clearTimeout(over);
      connection?.off('close', give);
      waiters.delete(waiter);
      const left = (waiting.get(workspaceId) ?? 1) - 1;
      if (left === 0) waiting.delete(workspaceId);
      else waiting.set(workspaceId, left);
      return changed;
    },
    close() {
      closed = true;
      clearTimeout(timer);
      for (const { wake } of waiters) wake(false);
    },
  };
}
