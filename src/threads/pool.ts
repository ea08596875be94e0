/**
 * Runs document tasks: small ones on the event loop, large ones on a pool of threads, so that they do not block others.
 * The pool belongs to the process; its threads start on demand and end when idle.
 */
import { availableParallelism } from 'node:os';
import { type TaskArguments, type TaskName, type TaskResult, work } from '../document/tasks/tasks.ts';
import { TooSlowError, unavailable } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import { tenants } from '../tenants.ts';
import { currentShare } from './share.ts';
import type { Posted, Worked } from './thread.ts';
import { timed } from './timed.ts';
import { createTrackedThreads } from './tracked-threads.ts';
import { loopTurn } from './turns.ts';

/** The most characters of JSON processed on the event loop. */
export const LOOP_CHARACTERS = 12_000;
/**
 * The most places processed on the event loop: Markdown marks, and strings in lists, such as cells and items. Each costs
 * up to 25 microseconds, so a task on the loop takes less than 10 ms.
 */
export const LOOP_PLACES = 250;
/** A task with so few of both takes less than a millisecond and needs no turn. */
const NO_TURN = { characters: 2_000, places: 30 };
/** Markdown files have many marks and are rare. */
const NEVER_ON_THE_LOOP: ReadonlySet<TaskName> = new Set(['findImages', 'importFile']);

const THREADS = Math.max(2, Math.min(4, availableParallelism() - 1));
/** Far more than the largest document needs. With the wait for a turn it fits into an activity's minute. */
export const TASK_TIMEOUT_MS = 25_000;
/** Longer than an editor pauses: a thread takes a third of a second to start, and little of its memory comes back. */
const IDLE_MS = 300_000;
/** The second refresh of the largest table needs three quarters of it. Without a bound threads never release memory. */
const OLD_HEAP_MB = 144;
const YOUNG_HEAP_MB = 8;

const queue = createFairQueue({
  total: THREADS,
  perOwner: THREADS - 1,
  maxWaiting: 64,
  refusal: () => unavailable('threads', 'Too many large documents are being processed. Try again shortly.'),
});

const threads = createTrackedThreads<Posted, Worked>({
  file: new URL('./thread.ts', import.meta.url),
  threads: THREADS,
  idleMs: IDLE_MS,
  oldHeapMb: OLD_HEAP_MB,
  youngHeapMb: YOUNG_HEAP_MB,
  nice: 5,
});

const PLACE = /[[\]*_`<&!\\]|"(?=[,\]])/g;

/** True when the texts together can be processed on the event loop. */
export function areSmall(
  texts: Iterable<string>,
  most = { characters: LOOP_CHARACTERS, places: LOOP_PLACES },
): boolean {
  let characters = 0;
  let places = 0;
  for (const text of texts) {
    characters += text.length;
    if (characters > most.characters) return false;
    for (const _ of text.matchAll(PLACE)) {
      places += 1;
      if (places > most.places) return false;
    }
  }
  return true;
}

/** The text arguments of a task. */
function* textsOf(args: readonly unknown[]): Generator<string> {
  for (const arg of args) {
    if (typeof arg === 'string') yield arg;
    else if (arg instanceof Map) for (const value of arg.values()) if (typeof value === 'string') yield value;
  }
}

const isForLoop = <Name extends TaskName>(task: Name, args: TaskArguments<Name>): boolean =>
  !NEVER_ON_THE_LOOP.has(task) && areSmall(textsOf(args));

/** Runs a task at once if it is small enough for the event loop; otherwise returns undefined. */
export const doSmallTask = <Name extends TaskName>(
  task: Name,
  ...args: TaskArguments<Name>
): TaskResult<Name> | undefined => (isForLoop(task, args) ? timed(() => work(task, ...args)) : undefined);

/**
 * Runs a task.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when the workspace's turn did not come in time
 * @throws {TooSlowError} when the work itself took too long
 */
export const doTask = <Name extends TaskName>(task: Name, ...args: TaskArguments<Name>) =>
  doTaskWithin(TASK_TIMEOUT_MS, task, ...args);

/** `doTask` with another time limit, counted from its turn. */
export async function doTaskWithin<Name extends TaskName>(
  timeoutMs: number,
  task: Name,
  ...args: TaskArguments<Name>
): Promise<TaskResult<Name>> {
  if (isForLoop(task, args)) {
    if (!areSmall(textsOf(args), NO_TURN)) await loopTurn();
    return timed(() => work(task, ...args));
  }
  const share = currentShare();
  const release = await queue.take(share.of, { waitMs: share.waitMs });
  let result: unknown;
  try {
    result = await onThread(timeoutMs, { task, args }, share.of);
  } finally {
    release();
  }
  // What is done with a large result is large as well.
  await loopTurn(share);
  return result as TaskResult<Name>;
}

async function onThread(timeoutMs: number, posted: Posted, workspaceId: string): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { result, milliseconds } = await threads.run(posted, signal);
    tenants.count(workspaceId, 'workMilliseconds', milliseconds);
    return result;
  } catch (error) {
    if (!signal.aborted) throw error;
    tenants.count(workspaceId, 'workMilliseconds', timeoutMs);
    throw new TooSlowError('The document took too long to process.', error);
  }
}

/** Waits for tasks in progress, then ends the threads. Later tasks start new ones. */
export const closeThreads = (): Promise<void> => threads.close();
