/** The entry point of a pool thread. */

import { TASKS, type TaskName } from '../document/tasks/tasks.ts';

/** A task as it is posted to a thread. */
export interface Posted {
  readonly task: TaskName;
  readonly args: readonly unknown[];
}

/** What a task came to, and the milliseconds that it took. */
export interface Worked {
  readonly result: unknown;
  readonly milliseconds: number;
}

export default function work({ task, args }: Posted): Worked {
  const run = TASKS[task] as (...given: readonly unknown[]) => unknown;
  const began = performance.now();
  const result = run(...args);
  return { result, milliseconds: performance.now() - began };
}
