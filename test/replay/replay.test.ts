import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { installRuntime } from '../../src/temporal/runtime.ts';
import { logger } from '../support/service.ts';

const folder = fileURLToPath(new URL('../histories/', import.meta.url));
const recorded = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .sort();
const read = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));

beforeAll(() => installRuntime(logger));

describe('the workflows as they are now replay every recorded history', () => {
  /** What went wrong with each, by its file. */
  const errors = new Map<string, Error | undefined>();
  beforeAll(async () => {
    const workflowBundle = { codePath: inject('workflowBundlePath') };
    const histories = recorded.map((workflowId) => ({ workflowId, history: read(workflowId) }));
    const results = Worker.runReplayHistories({ workflowBundle }, histories);
    for await (const { workflowId, error } of results) errors.set(workflowId, error);
  });

  it.each(recorded)('%s', (file) => {
    expect([...errors.keys()]).toContain(file);
    expect(errors.get(file)).toBeUndefined();
  });
});

it('a changed workflow fails to replay, so the test above can fail', async () => {
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./changed-workflows.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  await expect(
    Worker.runReplayHistory({ workflowBundle }, read('translateArticle/success.json'), 'replayed'),
  ).rejects.toThrow(/Nondeterminism/i);
});
