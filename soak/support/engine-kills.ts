import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import { isAlive } from '../../src/local/process-identity.ts';
import { readStackRecord, type StackRecord } from '../../src/local/stack-file.ts';
import { launch, ready } from '../../test/support/start.ts';
import { drain } from './drain.ts';
import { type Evidence, gatherEvidence } from './evidence.ts';
import { type Load, startLoad } from './load.ts';
import { createScriptService, type ScriptService } from './service.ts';
import { findUnsettled } from './settled.ts';
import { startWitness } from './witness.ts';

/** Two deaths of one engine are 32 s apart when there are more than two: three within a minute would be the end. */
const KILL_EVERY_MS = 16_000;
const FEW_KILLS = 4;
/** Longest wait for the service to be ready again. */
const READY_MS = 60_000;
const CHECKS_KEPT_MS = 1_100;

export interface EngineKill {
  readonly engine: 'postgres' | 'temporal';
  /** From the kill to the first response of /readyz with all checks passed, in milliseconds. */
  readonly readyAfterMs: number;
}

export interface EngineKills {
  readonly kills: readonly EngineKill[];
  readonly load: Load;
  readonly evidence: Evidence;
  /** Lost or doubled events, lost translations, wrong charges, a bad end. */
  readonly problems: readonly string[];
  /** All that `npm start` wrote. */
  readonly output: string;
}

/**
 * Kills the engines of `npm start` with -9 in turn, under load, and then checks every event, job and credit. Ends the
 * service by SIGTERM.
 * @param env variables of `npm start`; its DATA_DIR is an empty folder, or one that is migrated
 * @param onProgress called for each kill
 * @param hasten called again and again in the end, while deliveries may still wait for a retry
 */
export async function killEngines(
  env: { readonly DATA_DIR: string } & Readonly<Record<string, string>>,
  rounds: number,
  onProgress: (line: string) => void,
  hasten?: (db: Database, temporalAddress: string) => Promise<void>,
): Promise<EngineKills> {
  const start = launch('src/local/main.ts', {
    ...env,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_PER_KEY: '0',
  });
  let service: ScriptService | undefined;
  const receivers: { close(): Promise<unknown> }[] = [];
  try {
    const serverUrl = await ready(start);
    const { postgres, temporal } = enginesOf(env.DATA_DIR);
    service = createScriptService({
      databaseUrl: postgres.databaseUrl,
      temporalAddress: temporal.address,
      workflowBundle: '',
    });
    const workspace = await service.workspace('Kills');
    const witnesses = [
      await startWitness(service, workspace, 'quick', { delayMs: 0, refuse: 0.01 }),
      await startWitness(service, workspace, 'slow', { delayMs: 1_000, refuse: 0.01 }),
    ];
    receivers.push(...witnesses.map(({ receiver }) => receiver));
    const load = await startLoad({
      service,
      workspace,
      serverUrl,
      storeAtOnce: 1,
      storeEveryMs: 200,
      translateEveryMs: 500,
    });
    const kills: EngineKill[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await sleep(randomInt(2_000, 5_000));
      const from = performance.now();
      const engine = round % 2 === 0 ? 'postgres' : 'temporal';
      const readyAfterMs = await killAndWait(env.DATA_DIR, engine, serverUrl);
      kills.push({ engine, readyAfterMs });
      onProgress(`${engine} killed, ready again after ${(readyAfterMs / 1_000).toFixed(1)} s`);
      if (rounds > FEW_KILLS && round + 1 < rounds)
        await sleep(Math.max(0, KILL_EVERY_MS - (performance.now() - from)));
    }
    await sleep(3_000);
    await load.stop();
    const { db } = service;
    const left = await drain(db, onProgress, async () => hasten?.(db, temporal.address));
    const evidence = await gatherEvidence(db, load, witnesses);
    const problems = [...left, ...evidence.problems, ...(await findUnsettled(db, workspace.id, load))];
    await service.stop();
    service = undefined;
    start.child.kill('SIGTERM');
    const status = await start.ended;
    if (status !== 0) problems.push(`it ended with status ${status}`);
    return { kills, load, evidence, problems, output: start.output() };
  } finally {
    await service?.stop();
    for (const receiver of receivers) await receiver.close();
    start.child.kill('SIGTERM');
    await start.ended;
  }
}

function enginesOf(dataDir: string) {
  const record: StackRecord | null = readStackRecord(dataDir);
  if (!record?.postgres || !record.temporal) throw new Error('stack.json does not name both engines');
  return { postgres: record.postgres, temporal: record.temporal };
}

async function killAndWait(
  dataDir: string,
  engine: EngineKill['engine'],
  serverUrl: string,
): Promise<number> {
  const { process: killed } = enginesOf(dataDir)[engine];
  const at = performance.now();
  process.kill(killed.pid, 'SIGKILL');
  while (isAlive(killed)) await sleep(5);
  // /readyz caches its checks.
  await sleep(CHECKS_KEPT_MS);
  while (!(await isReady(serverUrl))) {
    if (performance.now() - at > READY_MS) throw new Error(`not ready ${READY_MS / 1_000} s after a kill`);
    await sleep(50);
  }
  return performance.now() - at;
}

/** The server counts as ready without Temporal, so each check is read. */
async function isReady(serverUrl: string): Promise<boolean> {
  try {
    const response = await fetch(new URL('/readyz', serverUrl), { signal: AbortSignal.timeout(5_000) });
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return Object.values(checks).every((state) => state === 'ok');
  } catch {
    return false;
  }
}
