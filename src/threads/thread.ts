/** The entry point of a pool thread. */

import { TASKS, type TaskName } from '../document/tasks/tasks.ts';

/** A task as it is posted to a thread. */
export interface Posted {
  readonly task: TaskName;
  readonly args: readonly unknown[];
}

export default function work({ task, args }: Posted): unknown {
  const run = TASKS[task] as (...given: readonly unknown[]) => unknown;
  return run(...args);
}
