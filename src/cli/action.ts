import type { Command } from 'commander';
import type { z } from 'zod';
import { loadConfig } from '../config.ts';
import { parseOptions } from './options.ts';
import { type Answer, printAnswer } from './print.ts';
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
