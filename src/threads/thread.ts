/** The entry point of a pool thread. */

import { type TaskArguments, type TaskName, work } from '../document/tasks/tasks.ts';

/** A task as it is posted to a thread. */
export interface Posted {
  readonly task: TaskName;
  readonly args: TaskArguments<TaskName>;
}

/** What a task came to, and the milliseconds that it took. */
export interface Worked {
  readonly result: unknown;
  readonly milliseconds: number;
}

export default function workAway({ task, args }: Posted): Worked {
  const began = performance.now();
  const result = work(task, ...args);
  return { result, milliseconds: performance.now() - began };
}
