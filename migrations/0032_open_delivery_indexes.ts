import type { Kysely } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

export const online = true;

const STATUS = '(workspace_id, status, created_at';
const DUE = '(endpoint_id, due_at, ';

/**
 * The primary key alone has the id of an open delivery as a column. Postgres 18 skips through an index whose last column
 * is asked for, and a plan made while the table is nearly empty takes whichever index it likes: a claim or an outcome then
 * read every dead entry of that index. Order by id within one instant is kept by the id's bytes.
 */
export async function up(_db: Kysely<unknown>, { replaceIndex }: OnlineSteps): Promise<void> {
  await replaceIndex('webhook_open_due_idx', `ON webhook_open ${DUE}uuid_send(id))`);
  await replaceIndex('webhook_open_status_idx', `ON webhook_open ${STATUS})`);
  await replaceIndex('webhook_open_runs_idx', `ON webhook_open ${DUE}uuid_send(id)) WHERE in_run`);
}
