import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import { findTemporalCli } from '../../../src/local/temporal-cli.ts';
import { SEARCH_ATTRIBUTES } from '../../../src/local/temporal-server.ts';
import { freePorts } from '../../../src/ports.ts';
import { translationWorkflowId } from '../../../src/temporal/ids.ts';
import { startBeforeItsTurn } from '../../support/jobs.ts';
import { startTestService } from '../../support/service.ts';
import { createStandIn, translating } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
import { recordHistory } from './history.ts';

/** A server that suggests a new run after few events; ours would after some thousand, hours later. */
async function startImpatientTemporal() {
  const { path } = await findTemporalCli({ env: process.env, onProgress: () => undefined });
  const [port] = await freePorts(1);
  const args = ['server', 'start-dev', '--headless', '--port', String(port), '--log-level', 'error'];
  args.push('--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=20');
  for (const name of SEARCH_ATTRIBUTES) args.push('--search-attribute', `${name}=Keyword`);
  const child = spawn(path, args, { stdio: 'ignore' });
  const address = `127.0.0.1:${port}`;
  const connection = await eventually(
    () => Connection.connect({ address }).catch(() => null),
    (connected) => connected !== null,
  );
  if (connection === null) throw new Error('not connected');
  return {
    address,
    client: new Client({ connection }),
    async stop() {
      await connection.close();
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

it('a run that waits so long that it continues as a new one', async () => {
  const temporal = await startImpatientTemporal();
  const service = await startTestService({ TEMPORAL_ADDRESS: temporal.address });
  const provider = createStandIn();
  await service.startWorker({ provider });
  const calls = translating(service);
  const workspace = await service.workspace(1_000);
  const gate = Promise.withResolvers<void>();
  provider.behave = () => gate.promise;
  for (let each = 0; each < 8; each += 1) {
    const { job } = await calls.translate(workspace, 100);
    await eventually(
      () => calls.readJob(workspace, job.id),
      ({ status }) => status === 'TRANSLATING',
    );
  }
  const { job } = await calls.translate(workspace, 100);
  await startBeforeItsTurn(service, temporal.client, job.id);
  const workflowId = translationWorkflowId(job.id as JobId);
  const runIdNow = async () => (await temporal.client.workflow.getHandle(workflowId).describe()).runId;
  const first = await eventually(
    () => runIdNow().catch(() => ''),
    (id) => id !== '',
  );
  await eventually(runIdNow, (id) => id !== first, 60_000);
  gate.resolve();
  expect((await calls.untilFinal(workspace, job.id)).status).toBe('COMPLETED');
  const { address } = temporal;
  await recordHistory(workflowId, 'translateArticle/waiting-continued-as-new', { address, runId: first });
  await recordHistory(workflowId, 'translateArticle/waiting-continued', { address });
  await service.stop();
  await temporal.stop();
});
