import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { MAX_CREDITS } from '../../credits/wallet.ts';
import { exportWorkspace } from '../../export/export.ts';
import { idOf } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { createWorkspace, workspaceName } from '../../workspaces/create.ts';
import { deleteWorkspace } from '../../workspaces/delete.ts';
import { restoreWorkspace, resumeWorkspace, suspendWorkspace } from '../../workspaces/life.ts';
import { listWorkspaces } from '../../workspaces/list.ts';
import { showWorkspace } from '../../workspaces/show.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { note } from '../session.ts';
import { requireWorkspace } from '../targets.ts';
import { fileFrom } from '../typed-in.ts';
import { setLimitsCommand } from './set-limits.ts';

const createOptions = z.object({ name: workspaceName, credits: integer(0, MAX_CREDITS) });

const listOptions = z.object({ name: z.string().max(120).optional(), deleted: z.boolean().optional() });

const workspaceOptions = z.object({ workspace: idOf<WorkspaceId>() });

const exportOptions = workspaceOptions.extend({ out: z.string().min(1) });

/** `workspace create`, `list`, `show`, `set-limits`, `delete`, `export`, `restore`, `suspend` and `resume` */
export const workspaceCommand = (): Command =>
  new Command('workspace')
    .description('create, list, show, limit, delete, export, restore, suspend and resume workspaces')
    .addCommand(
      new Command('create')
        .description('create a workspace with its built-in roles and a first Owner key, shown only once')
        .requiredOption('--name <name>', '1 to 120 characters')
        .option('--credits <number>', 'initial credits', '1000')
        .action(
          action(createOptions, async ({ db, operator }, input) => ({
            ...(await createWorkspace(db, { ...input, operator })),
          })),
        ),
    )
    .addCommand(
      new Command('list')
        .description('the 100 newest workspaces, or those whose name has the given part')
        .option('--name <part>', 'in upper or lower case')
        .option('--deleted', 'deleted ones that can be restored')
        .action(
          action(listOptions, async ({ db }, { name, deleted }) => ({
            workspaces: await listWorkspaces(db, { part: name, deleted }),
          })),
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
            await deleteWorkspace(operatorOf(workspace));
            return { ok: true };
          }),
        ),
    )
    .addCommand(
      new Command('export')
        .description('write everything a workspace has into a tar file: JSON lines, images and a manifest')
        .requiredOption('--workspace <id>', 'the workspace')
        .requiredOption('--out <file>', 'where to write it')
        .action(
          action(exportOptions, async ({ db, blobs, operatorOf }, { workspace, out: typed }) => {
            const out = fileFrom(typed);
            const context = operatorOf(await requireWorkspace(db, workspace));
            const { files, images } = await exportWorkspace({ ...context, blobs }, out, ({ name, rows }) =>
              note(`${name}: ${rows}`),
            );
            if (images.missing.length > 0)
              note(`${images.missing.length} images have no bytes: see manifest.json`);
            const { size } = await stat(out);
            return {
              file: out,
              bytes: size,
              rows: files.reduce((sum, { rows }) => sum + rows, 0),
              images: images.count,
              missingImages: images.missing.length,
            };
          }),
        ),
    )
    .addCommand(
      new Command('restore')
        .description('take the deletion of a workspace back, until WORKSPACE_GRACE_DAYS are over')
        .requiredOption('--workspace <id>', 'the workspace')
        .action(
          action(workspaceOptions, async ({ operatorOf }, { workspace }) => {
            await restoreWorkspace(operatorOf(workspace));
            return { ok: true };
          }),
        ),
    )
    .addCommand(
      new Command('suspend')
        .description('refuse the requests of a workspace with 403; its jobs and deliveries wait')
        .requiredOption('--workspace <id>', 'the workspace')
        .action(
          action(workspaceOptions, async ({ db, operatorOf }, { workspace }) => {
            await suspendWorkspace(operatorOf(await requireWorkspace(db, workspace)));
            return { ok: true };
          }),
        ),
    )
    .addCommand(
      new Command('resume')
        .description('serve a suspended workspace again')
        .requiredOption('--workspace <id>', 'the workspace')
        .action(
          action(workspaceOptions, async ({ db, operatorOf }, { workspace }) => {
            await resumeWorkspace(operatorOf(await requireWorkspace(db, workspace)));
            return { ok: true };
          }),
        ),
    );
