/** `npm run migrate` brings the schema to the newest version. */
import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { migrateToLatest } from '../db/migrate.ts';
import { note, reportFailure, withDatabase } from './session.ts';

async function migrate(): Promise<void> {
  const config = loadConfig();
  // The migration lock belongs to a session, which a pooler would share.
  const direct = { ...config, DATABASE_URL: config.DATABASE_DIRECT_URL ?? config.DATABASE_URL };
  const names = await withDatabase(direct, (db) => migrateToLatest(db, note, config.PARTITION_MINUTES));
  for (const name of names) process.stdout.write(`applied ${name}\n`);
  if (names.length === 0) process.stdout.write('the schema is up to date\n');
}

await new Command('migrate')
  .description('Migrates the database to the newest schema.')
  .action(migrate)
  .parseAsync()
  .catch(reportFailure);
