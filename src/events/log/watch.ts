import type { Database } from '../../db/database.ts';
import { createWatch, type Watch } from '../../http/watch.ts';
import type { WorkspaceId } from '../../ids.ts';

/** Lets requests wait for a workspace's next event: one statement each 250 ms, 50 requests of a workspace at once. */
export type EventWatch = Watch<WorkspaceId>;

/** Its tag is the number of the workspace's last event. */
export const createEventWatch = (db: Database): EventWatch =>
  createWatch({
    everyMs: 250,
    perWorkspace: 50,
    what: 'events',
    async read(ids) {
      const rows = await db
        .selectFrom('event_counters')
        .select(['workspace_id', 'number'])
        .where('workspace_id', 'in', ids)
        .execute();
      const numbers = new Map(rows.map((row) => [row.workspace_id, row.number]));
      return new Map(ids.map((id) => [id, String(numbers.get(id) ?? 0)]));
    },
  });
