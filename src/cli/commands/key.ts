import { Command } from 'commander';
import { z } from 'zod';
import { createApiKey } from '../../api-keys/create.ts';
import { listNewestKeys } from '../../api-keys/list.ts';
import { purgeKeys } from '../../api-keys/purge.ts';
import { revokeApiKey } from '../../api-keys/revoke.ts';
import { createApiKeyBody } from '../../api-keys/schemas.ts';
import { dateTime, idOf } from '../../fields.ts';
import type { ApiKeyId, RoleId, WorkspaceId } from '../../ids.ts';
import { action } from '../action.ts';
import { pagedList, pageOf, pageOptions } from '../paged-list.ts';
import { requireWorkspace, workspaceOfKey } from '../targets.ts';

const createOptions = z.object({
  workspace: idOf<WorkspaceId>(),
  role: idOf<RoleId>(),
  label: createApiKeyBody.shape.label,
  expiresAt: dateTime.optional(),
});
const revokeOptions = z.object({ key: idOf<ApiKeyId>() });
const purgeOptions = z.object({ workspace: idOf<WorkspaceId>(), endedBefore: dateTime });

const create = (): Command =>
  new Command('create')
    .description('create a key, which is shown only once')
    .requiredOption('--workspace <id>', 'its workspace: see workspace list')
    .requiredOption('--role <id>', 'a role of that workspace: see role list')
    .requiredOption('--label <label>', '1 to 120 characters')
    .option('--expires-at <date-time>', 'such as 2027-01-31T12:00:00Z; without it the key never expires')
    .action(
      action(createOptions, async ({ db, operatorOf }, { workspace, role, label, expiresAt }) => {
        const context = operatorOf(await requireWorkspace(db, workspace));
        const { apiKey, key } = await createApiKey(context, { label, roleId: role, expiresAt });
        return { id: apiKey.id, key };
      }),
    );

const list = (): Command =>
  pagedList('the keys of a workspace, ended ones included').action(
    action(pageOptions, async ({ db, operatorOf }, { workspace, ...page }) => {
      const context = operatorOf(await requireWorkspace(db, workspace));
      const { keys, nextCursor } = await listNewestKeys(context, pageOf(page));
      return { keys: keys.map(({ id, ...key }) => ({ keyId: id, ...key })), nextCursor };
    }),
  );

const revoke = (): Command =>
  new Command('revoke')
    .description('end a key of any workspace for good; it stays listed')
    .requiredOption('--key <id>', 'the id of the key: see key list')
    .action(
      action(revokeOptions, async ({ db, operatorOf }, { key }) => {
        await revokeApiKey(operatorOf(await workspaceOfKey(db, key)), key);
        return { ok: true, keyId: key };
      }),
    );

const purge = (): Command =>
  new Command('purge')
    .description('delete the keys of a workspace that were revoked, or had expired, before a time')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--ended-before <date-time>', 'such as 2026-01-31T12:00:00Z')
    .action(
      action(purgeOptions, async ({ db, operatorOf }, { workspace, endedBefore }) => ({
        ok: true,
        purged: await purgeKeys(operatorOf(await requireWorkspace(db, workspace)), endedBefore),
      })),
    );

/** `key create`, `key list`, `key revoke` and `key purge` */
export const keyCommand = (): Command =>
  new Command('key')
    .description('create, list, revoke and purge API keys')
    .addCommand(create())
    .addCommand(list())
    .addCommand(revoke())
    .addCommand(purge());
