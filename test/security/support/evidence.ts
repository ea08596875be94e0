import { createHash } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';

/** One place a secret could have ended up in, by a name that says where to look. */
export interface Evidence {
  readonly where: string;
  readonly text: string;
}

/** The one column of each table that has to hold what nothing else may hold. */
const SECRET_COLUMNS: Readonly<Record<string, string>> = {
  api_keys: 'key_hash',
};

/** Every row of every table as JSON, without the columns that are the secrets' own. */
export async function readTables(db: Database): Promise<Evidence[]> {
  const tables = await db.introspection.getTables();
  const evidence: Evidence[] = [];
  for (const { name } of tables) {
    const own = SECRET_COLUMNS[name] ?? '';
    const { rows } = await sql<{ text: string }>`
      SELECT (to_jsonb(t) - ${own}::text)::text AS text FROM ${sql.table(name)} t`.execute(db);
    // bytea is shown as hexadecimal digits: what is stored as bytes is looked through as text too.
    const bytes = (text: string): string =>
      text.replaceAll(/\\\\x([0-9a-f]+)/g, (_match, hex: string) =>
        Buffer.from(hex, 'hex').toString('latin1'),
      );
    evidence.push(
      ...rows.flatMap(({ text }) => [
        { where: `table ${name}`, text },
        { where: `table ${name}, decoded`, text: bytes(text) },
      ]),
    );
  }
  return evidence;
}

/** Payloads become their text, whether they are bytes still or base64 already; everything else stays. */
const readable = (name: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return value.toString();
  if (name === 'data' && typeof value === 'string') return Buffer.from(value, 'base64').toString('utf8');
  const bytes = value as { type?: unknown; data?: unknown } | null;
  // What a Buffer has made of itself before a replacer sees it.
  if (bytes?.type === 'Buffer' && Array.isArray(bytes.data)) return Buffer.from(bytes.data).toString('utf8');
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
};

/** Everything Temporal knows of the runs on task queues with the prefix: histories, memo, what is pending. */
export async function readRuns(address: string, taskQueuePrefix: string): Promise<Evidence[]> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    const evidence: Evidence[] = [];
    for await (const run of client.workflow.list()) {
      if (!run.taskQueue.startsWith(taskQueuePrefix)) continue;
      const handle = client.workflow.getHandle(run.workflowId, run.runId);
      const history = await handle.fetchHistory();
      const described = await handle.describe();
      for (const [part, value] of Object.entries({ listed: run, history, described })) {
        evidence.push({ where: `run ${run.workflowId}, ${part}`, text: JSON.stringify(value, readable) });
      }
    }
    return evidence;
  } finally {
    await connection.close();
  }
}

/** All the forms in which a secret text would still give it away. */
export function formsOf(secret: string): string[] {
  const hash = createHash('sha256').update(secret).digest();
  // A marker is no secret, and what is left of it is as good as the whole.
  const bare = secret.slice(secret.indexOf('_') + 1);
  return [
    bare,
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('hex'),
    hash.toString('hex'),
    hash.toString('base64').replace(/=+$/, ''),
    hash.toString('base64url'),
    hash.toString('latin1'),
    JSON.stringify([...hash]).slice(1, -1),
  ];
}

/** Where any form of any of the secrets is found. */
export function findSecrets(evidence: readonly Evidence[], secrets: readonly string[]): string[] {
  const forms = secrets.flatMap(formsOf);
  const found = evidence.filter(({ text }) => {
    const lower = text.toLowerCase();
    return forms.some((form) => text.includes(form) || lower.includes(form.toLowerCase()));
  });
  return [...new Set(found.map(({ where }) => where))];
}
