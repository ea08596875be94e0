import { Command } from 'commander';
import { z } from 'zod';
import { readWallet } from '../../credits/wallet.ts';
import { idOf } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { action } from '../action.ts';
import { requireWorkspace } from '../targets.ts';

const options = z.object({ workspace: idOf<WorkspaceId>() });

/** `wallet show` */
export const walletCommand = (): Command =>
  new Command('wallet').description("show a workspace's credits").addCommand(
    new Command('show')
      .description('the balance of a workspace, and how much of it is reserved')
      .requiredOption('--workspace <id>', 'the workspace')
      .action(
        action(options, async ({ db, operatorOf }, { workspace }) => ({
          ...(await readWallet(operatorOf(await requireWorkspace(db, workspace)))),
        })),
      ),
  );
