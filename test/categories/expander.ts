/** What a worker does with frozen lists, as a process that can be killed: works off those of DATABASE_URL and ends. */
import { createDatabase } from '../../src/db/database.ts';
import { expandFanOuts } from '../../src/events/fan-out.ts';

const db = createDatabase({ connectionString: process.env.DATABASE_URL ?? '' });
await expandFanOuts(db, { signal: new AbortController().signal });
await db.destroy();
