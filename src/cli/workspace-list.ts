import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../fields.ts';
import type { WorkspaceId } from '../ids.ts';
import { action } from './action.ts';
import type { CommandResult } from './print.ts';
import type { Session } from './session.ts';
import { requireWorkspace } from './targets.ts';

const options = z.object({ workspace: idOf<WorkspaceId>() });

/** The command `list` for something that workspaces have. @param read returns it, as the operator */
export const workspaceList = (
  description: string,
  read: (operator: ReturnType<Session['operatorOf']>) => Promise<CommandResult>,
): Command =>
  new Command('list')
    .description(description)
    .requiredOption('--workspace <id>', 'the workspace')
    .action(
      action(options, async ({ db, operatorOf }, { workspace }) =>
        read(operatorOf(await requireWorkspace(db, workspace))),
      ),
    );
