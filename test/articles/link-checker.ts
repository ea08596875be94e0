/** What a worker does with changed addresses, as a process that can be killed: works off those of DATABASE_URL and ends. */
import { createDatabase } from '../../src/db/database.ts';
import { checkAllLinks } from './support.ts';

const db = createDatabase({ connectionString: process.env.DATABASE_URL ?? '' });
await checkAllLinks(db);
await db.destroy();
