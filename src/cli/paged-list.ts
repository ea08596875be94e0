import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../fields.ts';
import { decodeCursor, type PageRequest } from '../http/paging.ts';
import type { WorkspaceId } from '../ids.ts';
import { integer } from './options.ts';

/** Rows of one command. */
const MAX_LIMIT = 1_000;

/** Options of a list of a workspace that is read page by page. */
export const pageOptions = z.object({
  workspace: idOf<WorkspaceId>(),
  limit: integer(1, MAX_LIMIT),
  cursor: z.string().max(200).optional(),
});

/** The command `list` with these options. */
export const pagedList = (description: string): Command =>
  pagedCommand(description).requiredOption('--workspace <id>', 'the workspace');

/** The command `list`, not of one workspace. */
export const pagedCommand = (description: string): Command =>
  new Command('list')
    .description(`${description}, newest first`)
    .option('--limit <number>', `how many at most, 1 to ${MAX_LIMIT}`, '100')
    .option('--cursor <text>', 'the nextCursor of the list before, for those that follow');

/** The page that was asked for. */
export const pageOf = <Id extends string>({
  limit,
  cursor,
}: Pick<z.output<typeof pageOptions>, 'limit' | 'cursor'>): PageRequest<Id> => ({
  limit,
  position: decodeCursor<Id>(cursor),
});
