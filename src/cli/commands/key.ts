import { Command } from 'commander';
import { z } from 'zod';
import { createApiKey } from '../../api-keys/create.ts';
import { createApiKeyBody } from '../../api-keys/schemas.ts';
import { dateTime, idOf } from '../../fields.ts';
import type { RoleId, WorkspaceId } from '../../ids.ts';
import { action } from '../action.ts';
import { requireWorkspace } from '../targets.ts';

const createOptions = z.object({
  workspace: idOf<WorkspaceId>(),
  role: idOf<RoleId>(),
  label: createApiKeyBody.shape.label,
  expiresAt: dateTime.optional(),
});

/** `key create` */
export const keyCommand = (): Command =>
  new Command('key').description('create API keys').addCommand(
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
      ),
  );
