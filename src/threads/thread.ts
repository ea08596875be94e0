/** What runs in a thread of the pool. */

import { ParsedTexts } from '../document/inline/texts.ts';
import { TASKS, type TaskName } from '../document/tasks/tasks.ts';

/** A task as it is posted to a thread. */
export interface Posted {
  readonly task: TaskName;
  readonly args: readonly unknown[];
}

export default function work({ task, args }: Posted): unknown {
  const run = TASKS[task] as (...given: readonly unknown[]) => unknown;
  return portable(run(...args));
}

/** Parsed texts are instances of a class: they travel as bytes. */
function portable(value: unknown): unknown {
  if (value instanceof ParsedTexts) return value.toBytes();
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return value;
  }
  const fields = value as Record<string, unknown>;
  for (const name of ['texts', 'checked']) if (name in fields) fields[name] = portable(fields[name]);
  return fields;
}
