import type { Selectable } from 'kysely';
import type { Tables } from '../db/tables.ts';

/** Everything a job answer shows. */
export const jobColumns = [
  'id',
  'article_id',
  'workspace_id',
  'project_id',
  'status',
  'kind',
  'current_step',
  'progress',
  'idempotency_key',
  'estimated_credits',
  'reserved_credits',
  'consumed_credits',
  'error_code',
  'error_message',
  'created_at',
] as const satisfies readonly (keyof Tables['jobs'])[];

export type JobRow = Pick<Selectable<Tables['jobs']>, (typeof jobColumns)[number]>;
