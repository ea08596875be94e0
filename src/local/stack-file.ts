import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readIfPresent, writeSecretFile } from '../files.ts';
import { postgresEngineSchema } from './postgres.ts';
import { processIdentitySchema } from './process-identity.ts';
import { temporalEngineSchema } from './temporal-server.ts';

const stackRecordSchema = z.object({
  /** The process that started the engines and ends them. */
  owner: processIdentitySchema,
  /** Null for an external engine (DATABASE_URL, TEMPORAL_ADDRESS) or one not started yet. */
  postgres: postgresEngineSchema.nullable(),
  temporal: temporalEngineSchema.nullable(),
});

/** The contents of `<dataDir>/stack.json`: the engines started on that folder. */
export type StackRecord = z.infer<typeof stackRecordSchema>;

/** Reads the record; null when missing or unreadable (its engines are then found by other means). */
export function readStackRecord(dataDir: string): StackRecord | null {
  const text = readIfPresent(fileOf(dataDir));
  if (text === null) return null;
  try {
    return stackRecordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Writes the record atomically, readable only by its owner: it contains the database's password. */
export function writeStackRecord(dataDir: string, record: StackRecord): void {
  writeSecretFile(fileOf(dataDir), `${JSON.stringify(record, null, 2)}\n`);
}

export function removeStackRecord(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true });
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'stack.json');
}
