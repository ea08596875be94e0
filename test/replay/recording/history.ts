import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { inject } from 'vitest';
import { eventually } from '../../support/wait.ts';

/** Where recorded histories are kept: one folder a workflow, one file a scenario. */
export const historiesFolder = fileURLToPath(new URL('../../histories/', import.meta.url));

/** Stack traces name files below it; a recording says nothing of the machine it was made on. */
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Waits for the run's end, whatever it is, and writes its history to `<workflow>/<scenario>.json`. */
export async function recordHistory(
  workflowId: string,
  file: string,
  { address = inject('temporalAddress'), runId }: { address?: string; runId?: string | undefined } = {},
): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const handle = new Client({ connection }).workflow.getHandle(workflowId, runId);
    await eventually(
      () => handle.describe().catch(() => null),
      (run) => run !== null && run.status.name !== 'RUNNING',
      240_000,
    );
    const history = await handle.fetchHistory();
    const path = `${historiesFolder}${file}.json`;
    await mkdir(path.slice(0, path.lastIndexOf('/')), { recursive: true });
    const text = historyToJSON(history).replaceAll(root, '');
    await writeFile(path, `${JSON.stringify(JSON.parse(text), null, 1)}\n`);
  } finally {
    await connection.close();
  }
}
