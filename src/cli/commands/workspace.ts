import { Command } from 'commander';
import { z } from 'zod';
import { MAX_CREDITS } from '../../credits/wallet.ts';
import { idOf } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { createWorkspace, workspaceName } from '../../workspaces/create.ts';
import { deleteWorkspace } from '../../workspaces/delete.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { requireWorkspace } from '../targets.ts';

const createOptions = z.object({ name: workspaceName, credits: integer(0, MAX_CREDITS) });

const deleteOptions = z.object({ workspace: idOf<WorkspaceId>() });

/** `workspace create` and `workspace delete` */
export const workspaceCommand = (): Command =>
  new Command('workspace')
    .description('workspaces')
    .addCommand(
      new Command('create')
        .description('create a workspace with its built-in roles and a first Owner key, shown only once')
        .requiredOption('--name <name>', '1 to 120 characters')
        .option('--credits <number>', 'initial credits', '1000')
        .action(action(createOptions, async ({ db }, input) => ({ ...(await createWorkspace(db, input)) }))),
    )
    .addCommand(
      new Command('delete')
        .description(
          'delete a workspace and everything in it, without events; refused while one of its jobs is open',
        )
        .requiredOption('--workspace <id>', 'the workspace')
        .action(
          action(deleteOptions, async ({ db, operatorOf }, { workspace }) => {
            await deleteWorkspace(operatorOf(await requireWorkspace(db, workspace)));
            return { ok: true };
          }),
        ),
    );
