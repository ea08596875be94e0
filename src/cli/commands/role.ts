import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../../fields.ts';
import type { RoleId, WorkspaceId } from '../../ids.ts';
import { createRole } from '../../roles/create.ts';
import { deleteRole } from '../../roles/delete.ts';
import { listRoles } from '../../roles/queries.ts';
import { createRoleBody } from '../../roles/schemas.ts';
import { updateRole } from '../../roles/update.ts';
import { action } from '../action.ts';
import { commaSeparated } from '../options.ts';
import { requireWorkspace, workspaceOfRole } from '../targets.ts';
import { workspaceList } from '../workspace-list.ts';

const { name } = createRoleBody.shape;
const permissions = commaSeparated.pipe(createRoleBody.shape.permissions);
const roleId = idOf<RoleId>();

const createOptions = z.object({ workspace: idOf<WorkspaceId>(), name, permissions });
const updateOptions = z
  .object({ role: roleId, name: name.optional(), permissions: permissions.optional() })
  .refine((options) => options.name !== undefined || options.permissions !== undefined, {
    error: 'Give --name, --permissions or both.',
  });
const deleteOptions = z.object({ role: roleId });

const create = (): Command =>
  new Command('create')
    .description('create a role')
    .requiredOption('--workspace <id>', 'its workspace')
    .requiredOption('--name <name>', '1 to 120 characters, unique in the workspace, ignoring case')
    .requiredOption('--permissions <list>', 'such as articles.read,articles.update')
    .action(
      action(createOptions, async ({ db, operatorOf }, { workspace, ...input }) => {
        const role = await createRole(operatorOf(await requireWorkspace(db, workspace)), input);
        return { roleId: role.id };
      }),
    );

const list = (): Command =>
  workspaceList('the roles of a workspace', async (operator) => ({
    roles: (await listRoles(operator)).map(({ id, name, builtIn, permissions }) => ({
      roleId: id,
      name,
      builtIn,
      permissions,
    })),
  }));

const update = (): Command =>
  new Command('update')
    .description('rename a role, replace its permissions, or both; its keys follow at once')
    .requiredOption('--role <id>', 'the role')
    .option('--name <name>', '1 to 120 characters, unique in the workspace, ignoring case')
    .option('--permissions <list>', 'the whole new set')
    .action(
      action(updateOptions, async ({ db, operatorOf }, { role, ...input }) => {
        const updated = await updateRole(operatorOf(await workspaceOfRole(db, role)), role, input);
        return { roleId: updated.id };
      }),
    );

const remove = (): Command =>
  new Command('delete')
    .description('delete a role that no live key uses')
    .requiredOption('--role <id>', 'the role')
    .action(
      action(deleteOptions, async ({ db, operatorOf }, { role }) => {
        await deleteRole(operatorOf(await workspaceOfRole(db, role)), role);
        return { ok: true };
      }),
    );

/** `role create`, `role list`, `role update` and `role delete` */
export const roleCommand = (): Command =>
  new Command('role')
    .description('create, list, change and delete roles, which give keys their permissions')
    .addCommand(create())
    .addCommand(list())
    .addCommand(update())
    .addCommand(remove());
