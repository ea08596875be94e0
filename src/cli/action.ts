import type { Command } from 'commander';
import type { z } from 'zod';
import { loadConfig } from '../config.ts';
import { parseOptions } from './options.ts';
import { type CommandResult, printResult } from './print.ts';
import { type Session, withSession } from './session.ts';

/**
 * A commander action: checks the options, runs `work` with a session and prints its result. Bad options are refused
 * before the database is touched.
 */
export const action =
  <Schema extends z.ZodType>(
    schema: Schema,
    work: (session: Session, options: z.output<Schema>) => Promise<CommandResult>,
  ) =>
  async (given: unknown, command: Command): Promise<void> => {
    const options = parseOptions(schema, given);
    const result = await withSession(loadConfig(), (session) => work(session, options));
    printResult(result, command.optsWithGlobals().json === true);
  };
