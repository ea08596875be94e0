import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { createDatabase } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { startStack } from '../../src/local/stack.ts';
import { bundleWorkflows } from '../../src/temporal/bundle.ts';
import { connectTemporal } from '../../src/temporal/runtime.ts';
import { registerSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { databaseUrl, withServer } from './database-url.ts';
import { memoryFolder } from './memory-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the server's maintenance database; tests clone `template` into one of their own. */
    serverUrl: string;
    temporalAddress: string;
    workflowBundlePath: string;
  }
}

/** One Postgres, one Temporal server and one workflow bundle for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'wcs-test-'));
  const stack = await startStack({
    ephemeral: true,
    dataDir: memoryFolder(),
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  try {
    await withServer(stack.databaseUrl, (client) => client.query('CREATE DATABASE template_wcs'));
    const db = createDatabase({ connectionString: databaseUrl(stack.databaseUrl, 'template_wcs') });
    await migrateToLatest(db);
    await db.destroy();
    const connection = await connectTemporal({ address: stack.temporalAddress });
    await registerSearchAttributes(connection, 'default');
    await connection.close();
    const workflowBundlePath = path.join(folder, 'workflows.cjs');
    await writeFile(workflowBundlePath, (await bundleWorkflows()).code);
    project.provide('serverUrl', stack.databaseUrl);
    project.provide('temporalAddress', stack.temporalAddress);
    project.provide('workflowBundlePath', workflowBundlePath);
  } catch (error) {
    await stack.stop();
    throw error;
  }
  return async () => {
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
