import { z } from 'zod';
import { iso } from '../fields.ts';
import type { CallRow } from './calls.ts';

/** A call of a model in any report of a job. */
export const callSchema = z.object({
  model: z.string(),
  outcome: z
    .enum(['answered', 'unanswered'])
    .nullable()
    .describe('Null while it is under way, and when its worker was lost'),
  startedAt: z.iso.datetime(),
  milliseconds: z.int().nullable(),
});

/** The call as reports show it. */
export const toCall = ({ model, outcome, created_at, ended_at }: CallRow): z.infer<typeof callSchema> => ({
  model,
  outcome,
  startedAt: iso(created_at),
  milliseconds: ended_at === null ? null : Math.max(0, ended_at.getTime() - created_at.getTime()),
});
