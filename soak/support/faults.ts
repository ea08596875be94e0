import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TcpProxy } from '../../test/support/tcp-proxy.ts';
import type { DurableEngine, DurableEngines } from './durable-engines.ts';
import type { Supervised } from './supervisor.ts';

export const FAULT_KINDS = ['worker', 'server', 'temporal', 'postgres', 'frozen', 'silent'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Faulty {
  readonly engines: DurableEngines;
  readonly workers: readonly Supervised[];
  readonly server: Supervised;
  /** Between the first worker and Postgres, and between it and Temporal. */
  readonly proxies: readonly TcpProxy[];
}

/** Longer than any heartbeat, so that what a frozen worker has is given to others before it wakes. */
const FREEZE_MS = 60_000;
const SILENCE_MS = { least: 5_000, most: 40_000 };

const later = (least: number, most: number) => sleep(randomInt(least, most));

async function killAndRestart(engine: DurableEngine): Promise<void> {
  await engine.kill();
  await later(200, 3_000);
  await engine.restart();
}

/**
 * One of each kind of fault: kill -9 of a worker, of the server or of an engine, which come back; SIGSTOP of a worker
 * for a minute; a network that drops what one worker and an engine say to each other, for up to 40 s, after which their
 * old connections stay silent. Each resolves when it is over.
 */
export const faultsOf = ({
  engines,
  workers,
  server,
  proxies,
}: Faulty): Record<FaultKind, () => Promise<void>> => ({
  worker: async () => void workers[randomInt(workers.length)]?.kill(),
  server: () => server.kill(),
  temporal: () => killAndRestart(engines.temporal),
  postgres: () => killAndRestart(engines.postgres),
  frozen: async () => {
    const wake = workers[randomInt(workers.length)]?.freeze();
    await sleep(FREEZE_MS);
    wake?.();
  },
  silent: async () => {
    const proxy = proxies[randomInt(proxies.length)];
    proxy?.silence(randomInt(2) === 0 ? 'everything' : 'answers');
    await later(SILENCE_MS.least, SILENCE_MS.most);
    proxy?.speak({ lost: true });
  },
});
