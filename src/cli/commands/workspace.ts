import { Command } from 'commander';
import { z } from 'zod';
import { trimmedText } from '../../http/fields.ts';
import { createWorkspace } from '../../workspaces/create.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { MAX_CREDITS } from './credits.ts';

const createOptions = z.object({ name: trimmedText(1, 120), credits: integer(0, MAX_CREDITS) });

/** `workspace create` */
export const workspaceCommand = (): Command =>
  new Command('workspace').description('workspaces').addCommand(
    new Command('create')
      .description('make a workspace with its built-in roles and a first key of the role Owner, shown once')
      .requiredOption('--name <name>', '1 to 120 characters')
      .option('--credits <number>', 'credits to begin with', '1000')
      .action(action(createOptions, async ({ db }, input) => ({ ...(await createWorkspace(db, input)) }))),
  );
