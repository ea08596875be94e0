import type { EventEmitter } from 'node:events';
import type { Database } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import { jobColumns, jobTag, toJob } from './queries.ts';

/** How often all jobs that requests wait for are read, in one statement; milliseconds. */
const EVERY_MS = 500;
/** Requests that wait at once in this process: of one workspace, and in total. */
const MAX_OF_WORKSPACE = 20;
const MAX_WAITS = 1_000;

interface Waiter {
  readonly jobId: JobId;
  readonly seen: string;
  readonly wake: () => void;
}

/** Lets requests wait for a job to change: one statement each half second, however many wait. */
export interface JobWatch {
  /**
   * Resolves when the job's tag differs from `seen` or the job is gone, after `waitMs`, or when the client or the
   * process is gone.
   * @throws {ServiceError} RATE_LIMITED when too many wait already
   */
  untilChanged(
    workspaceId: WorkspaceId,
    jobId: JobId,
    seen: string,
    waitMs: number,
    connection?: EventEmitter,
  ): Promise<void>;
  /** Ends all waits; later ones end at once. */
  close(): void;
}

export function createJobWatch(db: Database): JobWatch {
  const waiters = new Set<Waiter>();
  const waiting = new Map<WorkspaceId, number>();
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const poll = async (): Promise<void> => {
    const ids = [...new Set([...waiters].map(({ jobId }) => jobId))];
    const rows = await db.selectFrom('jobs').select(jobColumns).where('id', 'in', ids).execute();
    const tags = new Map(rows.map((row) => [row.id, jobTag(toJob(row))]));
    for (const { jobId, seen, wake } of waiters) {
      if (ids.includes(jobId) && tags.get(jobId) !== seen) wake();
    }
  };
  const schedule = (): void => {
    if (timer !== undefined || waiters.size === 0) return;
    timer = setTimeout(() => {
      // A database that is away is read again later: the waits are bounded, and each response reads the job itself.
      poll()
        .catch(() => undefined)
        .finally(() => {
          timer = undefined;
          schedule();
        });
    }, EVERY_MS);
  };

  return {
    async untilChanged(workspaceId, jobId, seen, waitMs, connection) {
      if (closed) return;
      const count = waiting.get(workspaceId) ?? 0;
      if (count >= MAX_OF_WORKSPACE || waiters.size >= MAX_WAITS) {
        throw new ServiceError(
          'RATE_LIMITED',
          'Too many requests are waiting for jobs. Send the request without `wait`.',
          {
            retryAfter: 1,
          },
        );
      }
      waiting.set(workspaceId, count + 1);
      const { promise, resolve: wake } = Promise.withResolvers<void>();
      const waiter = { jobId, seen, wake };
      waiters.add(waiter);
      const over = setTimeout(wake, waitMs);
      connection?.once('close', wake);
      schedule();
      await promise;
      clearTimeout(over);
      connection?.off('close', wake);
      waiters.delete(waiter);
      const left = (waiting.get(workspaceId) ?? 1) - 1;
      if (left === 0) waiting.delete(workspaceId);
      else waiting.set(workspaceId, left);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      for (const { wake } of waiters) wake();
    },
  };
}
