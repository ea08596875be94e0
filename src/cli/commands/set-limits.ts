import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { setLimits } from '../../workspaces/set-limits.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { requireWorkspace } from '../targets.ts';

/** The largest value of a Postgres integer. */
const MAX_INTEGER = 2_147_483_647;

/** Requests a minute, 0 for no limit, or null (`default`) for the configured one. */
const requests = z.union([z.literal('default').transform(() => null), integer(0, MAX_INTEGER)], {
  error: `Expected a whole number from 0 to ${MAX_INTEGER}, or default.`,
});

const setOptions = z
  .object({
    workspace: idOf<WorkspaceId>(),
    aiOperations: integer(0, MAX_INTEGER).optional(),
    storageBytes: integer(0, Number.MAX_SAFE_INTEGER).optional(),
    requestsPerKey: requests.optional(),
    requestsPerWorkspace: requests.optional(),
  })
  .refine(({ workspace: _, ...limits }) => Object.values(limits).some((limit) => limit !== undefined), {
    error: 'Give --ai-operations, --storage-bytes, --requests-per-key or --requests-per-workspace.',
  });

/** `workspace set-limits` */
export const setLimitsCommand = (): Command =>
  new Command('set-limits')
    .description('set the given limits of a workspace, and print all')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--ai-operations <number>', 'AI operations a month')
    .option('--storage-bytes <number>', 'bytes of images, articles and their revisions')
    .option('--requests-per-key <number>', 'requests a minute of a key; 0 for no limit, or default')
    .option('--requests-per-workspace <number>', 'the same of all its keys together')
    .action(
      action(setOptions, async ({ db, operatorOf }, { workspace, ...input }) => ({
        ok: true,
        ...(await setLimits(operatorOf(await requireWorkspace(db, workspace)), input)),
      })),
    );
