import { Command } from 'commander';
import { listOperations } from '../../audit/operator-log.ts';
import { idOf } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { action } from '../action.ts';
import { pagedCommand, pageOf, pageOptions } from '../paged-list.ts';

const options = pageOptions.extend({ workspace: idOf<WorkspaceId>().optional() });

/** `log list` */
export const logCommand = (): Command =>
  new Command('log').description('read what operators have changed').addCommand(
    pagedCommand("the operators' log")
      .option('--workspace <id>', 'one workspace, also one that is gone')
      .action(
        action(options, async ({ db }, { workspace, ...page }) => ({
          ...(await listOperations(db, workspace, pageOf(page))),
        })),
      ),
  );
