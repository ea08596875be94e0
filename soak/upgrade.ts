/**
 * Runs `npm start` on an older Temporal (OLD_TEMPORAL_CLI_PATH), stops it with open work, and starts it on the present
 * one (or NEW_TEMPORAL_CLI_PATH), whose database is empty. All of it must end as promised, once. About two minutes.
 */
import { handOver } from './support/handover.ts';

const { OLD_TEMPORAL_CLI_PATH: old, NEW_TEMPORAL_CLI_PATH: next } = process.env;
if (old === undefined) throw new Error('Name an older Temporal executable in OLD_TEMPORAL_CLI_PATH.');
await handOver(
  { name: old, folder: '.', env: { TEMPORAL_CLI_PATH: old } },
  { name: next ?? 'the present Temporal', folder: '.', env: { TEMPORAL_CLI_PATH: next } },
  'SIGTERM',
);
