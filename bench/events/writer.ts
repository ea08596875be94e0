/**
 * A process that stores single events, each in a transaction of its own, for bench/events/pull.ts: WRITERS at once, each
 * SECONDS long. Sends the milliseconds of all of them to its parent.
 */
import { createDatabase } from '../../src/db/database.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { recordEvents } from '../../src/events/record.ts';
import { newId, parseId, type WorkspaceId } from '../../src/ids.ts';

const { DATABASE_URL = '', WORKSPACE = '', WRITERS = '8', SECONDS = '10' } = process.env;
const workspaceId = parseId<WorkspaceId>(WORKSPACE) ?? newId<WorkspaceId>();
const db = createDatabase({
  connectionString: DATABASE_URL,
  poolSize: Number(WRITERS),
  prepareStatements: true,
});
const times: number[] = [];
const end = performance.now() + Number(SECONDS) * 1_000;

async function write(): Promise<void> {
  while (performance.now() < end) {
    const data = { articleId: newId(), projectId: newId(), title: 'Written while others read' };
    const startedAt = performance.now();
    await inTransaction(db, (tx) =>
      recordEvents(tx, { actor: { workspaceId }, requestId: 'bench' }, [{ type: 'article.created', data }]),
    );
    times.push(performance.now() - startedAt);
  }
}

await Promise.all(Array.from({ length: Number(WRITERS) }, write));
await db.destroy();
process.send?.(times);
