import { Command } from 'commander';
import { z } from 'zod';
import { MAX_CREDITS } from '../../credits/wallet.ts';
import { idOf } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { createWorkspace, workspaceName } from '../../workspaces/create.ts';
import { deleteWorkspace } from '../../workspaces/delete.ts';
import { listWorkspaces } from '../../workspaces/list.ts';
import { showWorkspace } from '../../workspaces/show.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { requireWorkspace } from '../targets.ts';
import { setLimitsCommand } from './set-limits.ts';

const createOptions = z.object({ name: workspaceName, credits: integer(0, MAX_CREDITS) });

const listOptions = z.object({ name: z.string().max(120).optional() });

const workspaceOptions = z.object({ workspace: idOf<WorkspaceId>() });

/** `workspace create`, `workspace list`, `workspace show`, `workspace set-limits` and `workspace delete` */
export const workspaceCommand = (): Command =>
  new Command('workspace')
    .description('create, list, show, limit and delete workspaces')
    .addCommand(
      new Command('create')
        .description('create a workspace with its built-in roles and a first Owner key, shown only once')
        .requiredOption('--name <name>', '1 to 120 characters')
        .option('--credits <number>', 'initial credits', '1000')
        .action(action(createOptions, async ({ db }, input) => ({ ...(await createWorkspace(db, input)) }))),
    )
    .addCommand(
      new Command('list')
        .description('the 100 newest workspaces, or those whose name has the given part')
        .option('--name <part>', 'in upper or lower case')
        .action(
          action(listOptions, async ({ db }, { name }) => ({ workspaces: await listWorkspaces(db, name) })),
        ),
    )
    .addCommand(
      new Command('show')
        .description('a workspace with its credits, its limits and how much of each thing it has')
        .requiredOption('--workspace <id>', 'the workspace')
        .action(
          action(workspaceOptions, async ({ db, operatorOf }, { workspace }) => ({
            ...(await showWorkspace(operatorOf(await requireWorkspace(db, workspace)))),
          })),
        ),
    )
    .addCommand(setLimitsCommand())
    .addCommand(
      new Command('delete')
        .description(
          'delete a workspace and everything in it, without events; refused while one of its jobs is open',
        )
        .requiredOption('--workspace <id>', 'the workspace')
        .action(
          action(workspaceOptions, async ({ operatorOf }, { workspace }) => {
            // Also a deleted one, whose remaining rows are then removed.
            await deleteWorkspace(operatorOf(workspace));
            return { ok: true };
          }),
        ),
    );
