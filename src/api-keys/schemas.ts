import { z } from 'zod';
import { dateTime, idOf, timestamp, trimmedText, uuid } from '../fields.ts';
import type { ApiKeyId, RoleId } from '../ids.ts';

/** contract.md K3. */
export const apiKeySchema = z
  .object({
    id: uuid,
    label: z.string(),
    prefix: z.string().meta({ description: "The key's first 16 characters." }),
    roleId: uuid
      .nullable()
      .meta({ description: 'Null only for a revoked or expired key whose role was deleted.' }),
    createdAt: timestamp,
    lastUsedAt: timestamp.nullable().meta({ description: 'Updated with a delay of a few seconds.' }),
    expiresAt: timestamp.nullable(),
    revokedAt: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });

export type ApiKeyItem = z.infer<typeof apiKeySchema>;

export const createApiKeyBody = z.object({
  label: trimmedText(1, 120),
  roleId: idOf<RoleId>(),
  expiresAt: dateTime.optional(),
});

/** The only response that holds a raw key. */
export const createdApiKeySchema = z
  .object({
    apiKey: z.object({ id: idOf<ApiKeyId>(), prefix: z.string(), label: z.string() }),
    key: z.string().meta({ description: 'The raw key. It is shown only once and cannot be read again.' }),
  })
  .meta({ id: 'CreatedApiKey' });
