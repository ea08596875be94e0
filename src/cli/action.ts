import type { Command } from 'commander';
import type { z } from 'zod';
import { loadConfig } from '../config.ts';
import { parseOptions } from './options.ts';
import { type Session, withSession } from './session.ts';

/**
 * A commander action: checks the options, then runs `work` with a session and prints its answer. Bad options
 * are refused before any database is touched.
 */
export const action =
  <Schema extends z.ZodType>(
    schema: Schema,
    work: (session: Session, options: z.output<Schema>) => Promise<Answer>,
  ) =>
  async (given: unknown, command: Command): Promise<void> => {
    const options = parseOptions(schema, given);
    const answer = await withSession(loadConfig(), (session) => work(session, options));
    printAnswer(answer, command.optsWithGlobals().json === true);
  };

/** What a command answers: with `--json`, exactly this object. */
type Answer = Readonly<Record<string, unknown>>;

/** Name and value of each field, nested ones by their path: `roles.owner`. */
function* fields(answer: object, path: readonly string[] = []): Generator<[name: string, value: string]> {
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value === 'object' && value !== null) yield* fields(value, [...path, name]);
    else yield [[...path, name].join('.'), String(value)];
  }
}

/** Prints a command's answer to stdout: one line of JSON, or a table of names and values to read. */
function printAnswer(answer: Answer, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    return;
  }
  const lines = [...fields(answer)];
  const width = Math.max(...lines.map(([name]) => name.length));
  for (const [name, value] of lines) process.stdout.write(`${name.padEnd(width)}  ${value}\n`);
}
