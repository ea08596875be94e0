import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../../fields.ts';
import { readUsage } from '../../generation/calls.ts';
import type { WorkspaceId } from '../../ids.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { requireWorkspace } from '../targets.ts';

const HOUR_MS = 3_600_000;
const MAX_HOURS = 10_000;
/** Rows of one command. */
const MAX_ROWS = 1_000;

const options = z.object({ workspace: idOf<WorkspaceId>().optional(), hours: integer(1, MAX_HOURS) });

/** `usage` */
export const usageCommand = (): Command =>
  new Command('usage')
    .description(
      `what the writing of articles used, by workspace and model: calls with a response, calls without one, tokens; the ${MAX_ROWS} that used most`,
    )
    .option('--workspace <id>', 'one workspace only')
    .option('--hours <number>', 'of how many hours up to now', '24')
    .action(
      action(options, async ({ db }, { workspace, hours }) => {
        const since = new Date(Date.now() - hours * HOUR_MS);
        const workspaceId = workspace === undefined ? null : await requireWorkspace(db, workspace);
        const usage = await readUsage(db, { since, workspaceId, limit: MAX_ROWS });
        return { since: since.toISOString(), usage };
      }),
    );
