import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../../fields.ts';
import type { ProjectId } from '../../ids.ts';
import { addIdeaCluster, MAX_KEYWORDS, newIdeaCluster } from '../../suggestions/idea-clusters.ts';
import { action } from '../action.ts';
import { commaSeparated } from '../options.ts';
import { workspaceOfProject } from '../targets.ts';

const addOptions = z.object({
  project: idOf<ProjectId>(),
  title: newIdeaCluster.shape.title,
  keywords: commaSeparated.default([]).pipe(newIdeaCluster.shape.keywords),
});

/** `ideas add` */
export const ideasCommand = (): Command =>
  new Command('ideas').description("add ideas that a project's category suggestions draw on").addCommand(
    new Command('add')
      .description('add an idea, or replace the keywords of the one with this title')
      .requiredOption('--project <id>', 'its project')
      .requiredOption('--title <title>', '1 to 200 characters')
      .option('--keywords <a,b>', `up to ${MAX_KEYWORDS}`)
      .action(
        action(addOptions, async ({ db, operatorOf }, { project, title, keywords }) => ({
          ideaClusterId: await addIdeaCluster(operatorOf(await workspaceOfProject(db, project)), {
            projectId: project,
            title,
            keywords,
          }),
        })),
      ),
  );
