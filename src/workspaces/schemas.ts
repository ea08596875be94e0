import { z } from 'zod';
import { timestamp, uuid } from '../fields.ts';

const sharedMemory = z.boolean().meta({
  description:
    'Whether translations of one project use what people approved in another. What engines made is always shared.',
});

export const workspaceSchema = z
  .object({ id: uuid, name: z.string(), sharedMemory, createdAt: timestamp })
  .meta({ id: 'Workspace' });

export type WorkspaceResponse = z.infer<typeof workspaceSchema>;

export const updateWorkspaceBody = z.object({ sharedMemory });

export type WorkspaceChanges = z.output<typeof updateWorkspaceBody>;
