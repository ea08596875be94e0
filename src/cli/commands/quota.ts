import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { setQuota } from '../../workspaces/set-quota.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { requireWorkspace } from '../targets.ts';

/** The largest value of a Postgres integer. */
const MAX_OPERATIONS = 2_147_483_647;

const setOptions = z
  .object({
    workspace: idOf<WorkspaceId>(),
    aiOperations: integer(0, MAX_OPERATIONS).optional(),
    storageBytes: integer(0, Number.MAX_SAFE_INTEGER).optional(),
  })
  .refine((options) => options.aiOperations !== undefined || options.storageBytes !== undefined, {
    error: 'Give --ai-operations, --storage-bytes or both.',
  });

/** `quota set` */
export const quotaCommand = (): Command =>
  new Command('quota').description('set the quotas of a workspace').addCommand(
    new Command('set')
      .description('set one quota or both, and print both')
      .requiredOption('--workspace <id>', 'the workspace')
      .option('--ai-operations <number>', 'AI operations a month')
      .option('--storage-bytes <number>', 'bytes of images, articles and their revisions')
      .action(
        action(setOptions, async ({ db, operatorOf }, { workspace, ...input }) => ({
          ok: true,
          ...(await setQuota(operatorOf(await requireWorkspace(db, workspace)), input)),
        })),
      ),
  );
