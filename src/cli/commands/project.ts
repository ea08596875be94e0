import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { createProject } from '../../projects/create.ts';
import { listProjects } from '../../projects/read.ts';
import { createProjectBody } from '../../projects/schemas.ts';
import { action } from '../action.ts';
import { commaSeparated } from '../options.ts';
import { requireWorkspace } from '../targets.ts';
import { workspaceList } from '../workspace-list.ts';

/** Projects per list. */
const MAX_LISTED = 100;

const createOptions = z.object({
  workspace: idOf<WorkspaceId>(),
  ...createProjectBody.shape,
  languages: commaSeparated.pipe(createProjectBody.shape.languages),
});

const create = (): Command =>
  new Command('create')
    .description('create a project')
    .requiredOption('--workspace <id>', 'its workspace')
    .requiredOption('--name <name>', '1 to 200 characters')
    .requiredOption('--languages <tags>', 'such as en,es,pt-BR')
    .requiredOption('--primary-language <tag>', 'one of them')
    .option('--address-template <url>', 'such as https://example.com/{language}/{slug}')
    .action(
      action(createOptions, async ({ db, operatorOf }, { workspace, ...input }) => ({
        projectId: await createProject(operatorOf(await requireWorkspace(db, workspace)), input),
      })),
    );

const list = (): Command =>
  workspaceList(`the ${MAX_LISTED} newest projects of a workspace`, async (operator) => {
    const { projects } = await listProjects(operator, { limit: MAX_LISTED, position: null });
    return {
      projects: projects.map(({ id, name, languages, primaryLanguage }) => ({
        projectId: id,
        name,
        primaryLanguage,
        languages,
      })),
    };
  });

/** `project create` and `project list` */
export const projectCommand = (): Command =>
  new Command('project')
    .description('create and list projects, which articles belong to')
    .addCommand(create())
    .addCommand(list());
