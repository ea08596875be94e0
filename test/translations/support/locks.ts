import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import type { ArticleId } from '../../../src/ids.ts';
import { eventually } from '../../support/wait.ts';

/** Holds an article's row while `work` goes on, so that whoever wants it waits in line. */
export async function whileLocked(db: Database, articleId: string, work: () => Promise<void>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .selectFrom('articles')
      .select('id')
      .where('id', '=', articleId as ArticleId)
      .forUpdate()
      .execute();
    await work();
  });
}

/** Resolves when so many statements of this database wait for a lock. */
export const untilWaiting = (db: Database, count: number): Promise<number> =>
  eventually(
    async () => {
      const { rows } = await sql<{ n: number }>`
        SELECT count(*)::integer AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
      `.execute(db);
      return rows[0]?.n ?? 0;
    },
    (n) => n >= count,
  );
