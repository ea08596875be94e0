/** `npm run migrate` brings the schema to the newest version, `npm run migrate -- --down` takes one step back. */
import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { migrateDown, migrateToLatest } from '../db/migrate.ts';
import { note, reportFailure, withDatabase } from './session.ts';

async function migrate({ down = false }: { down?: boolean }): Promise<void> {
  const config = loadConfig();
  // The migration lock belongs to a session, which a pooler would share.
  const direct = { ...config, DATABASE_URL: config.DATABASE_DIRECT_URL ?? config.DATABASE_URL };
  const names = await withDatabase(direct, (db) =>
    down ? migrateDown(db, note) : migrateToLatest(db, note, config.PARTITION_MINUTES),
  );
  for (const name of names) process.stdout.write(`${down ? 'took back' : 'applied'} ${name}\n`);
  if (names.length === 0) {
    process.stdout.write(down ? 'there was no migration to revert\n' : 'the schema is up to date\n');
  }
}

await new Command('migrate')
  .description('Migrates the database to the newest schema.')
  .option('--down', 'revert the newest migration instead')
  .action(migrate)
  .parseAsync()
  .catch(reportFailure);
