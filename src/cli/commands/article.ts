import { existsSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { IMPORT_STATUSES, importArticle } from '../../articles/import.ts';
import { createArticleBody } from '../../articles/input-schemas.ts';
import { idOf, languageTag } from '../../fields.ts';
import type { ProjectId } from '../../ids.ts';
import { closeThreads } from '../../threads/pool.ts';
import { action } from '../action.ts';
import { commaSeparated } from '../options.ts';
import { note } from '../session.ts';
import { workspaceOfProject } from '../targets.ts';
import { fileFrom } from '../typed-in.ts';
import { generateCommand } from './generate-article.ts';

const importOptions = z.object({
  project: idOf<ProjectId>(),
  language: languageTag,
  file: z.string().min(1, 'Expected a path.'),
  status: z.enum(IMPORT_STATUSES),
  title: createArticleBody.shape.title.optional(),
  keywords: commaSeparated.pipe(createArticleBody.shape.targetKeywords.unwrap()),
});

/** npm runs scripts in the package's folder; a relative path means the folder that the operator is in. */
function locate(file: string): string {
  const fromThere = fileFrom(file);
  return existsSync(fromThere) ? fromThere : path.resolve(file);
}

const importCommand = (): Command =>
  new Command('import')
    .description('create an article from a Markdown or documentJson file, with its local images')
    .requiredOption('--project <id>', 'its project')
    .requiredOption('--language <tag>', "one of the project's languages")
    .requiredOption('--file <path>', 'a .md or .json file')
    .option('--status <status>', IMPORT_STATUSES.join(', '), 'DRAFT')
    .option('--title <title>', 'default: the first heading, else the file name')
    .option('--keywords <list>', 'target keywords, separated by commas', '')
    .action(
      action(importOptions, async ({ db, blobs, media, operatorOf }, { project, file, ...input }) => {
        const context = { ...operatorOf(await workspaceOfProject(db, project)), blobs, media };
        const { articleId, translationGroupId, wordCount, warnings } = await importArticle(context, {
          ...input,
          projectId: project,
          file: locate(file),
        }).finally(closeThreads);
        for (const warning of warnings) note(`warning: ${warning}`);
        return { articleId, translationGroupId, wordCount };
      }),
    );

/** `article import` and `article generate` */
export const articleCommand = (): Command =>
  new Command('article')
    .description('import or generate an article')
    .addCommand(importCommand())
    .addCommand(generateCommand());
