import { z } from 'zod';
import { timestamp, uuid } from '../fields.ts';
import { nextCursor } from '../http/paging.ts';

const auditEntrySchema = z
  .object({
    id: uuid,
    action: z.string().meta({ description: '`<area>.<verb>`, such as api_keys.created.' }),
    actor: z.object({
      kind: z.enum(['api_key', 'operator', 'system']),
      id: uuid.nullable().meta({ description: "The key's id when a key acted." }),
    }),
    targetType: z.string(),
    targetId: uuid.nullable(),
    details: z.record(z.string(), z.unknown()),
    requestId: z.string().nullable().meta({ description: 'The X-Request-Id of the request that acted.' }),
    createdAt: timestamp,
  })
  .meta({ id: 'AuditEntry' });

export const auditPageSchema = z.object({ entries: z.array(auditEntrySchema), nextCursor });

export type AuditPage = z.infer<typeof auditPageSchema>;
