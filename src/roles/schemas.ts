import { z } from 'zod';
import { idOf, timestamp, trimmedText } from '../fields.ts';
import type { RoleId } from '../ids.ts';
import { PERMISSIONS, type Permission } from '../permissions.ts';

export const roleSchema = z
  .object({
    id: idOf<RoleId>(),
    name: z.string(),
    permissions: z.array(z.enum(PERMISSIONS)).meta({ description: 'Sorted.' }),
    builtIn: z.boolean().meta({ description: 'Built-in roles can be neither edited nor deleted.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Role' });

export type RoleItem = z.infer<typeof roleSchema>;

/** Names of the catalog, without repeats. */
const permissionList = z
  .array(z.enum(PERMISSIONS))
  .max(200)
  .transform((names): Permission[] => [...new Set(names)].sort());

const roleName = trimmedText(1, 120);

export const createRoleBody = z.object({ name: roleName, permissions: permissionList });

export const updateRoleBody = z
  .object({ name: roleName.optional(), permissions: permissionList.optional() })
  .refine((body) => body.name !== undefined || body.permissions !== undefined, {
    message: 'Send name, permissions or both.',
  })
  .meta({
    anyOf: [
      { required: ['name'], properties: { name: { type: 'string' } } },
      { required: ['permissions'], properties: { permissions: { type: 'array' } } },
    ],
  });
