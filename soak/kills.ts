/**
 * Kills worker, server, Temporal or Postgres with -9 at random moments under load and starts it again, for KILL_ROUNDS
 * rounds (40). Every event that was stored must reach its receivers at least once, and each event one receiver under
 * one delivery id only. Ends with status 1 when anything is off. About 20 minutes.
 *
 * KILL_AT_ONCE (1) is the number of events of one transaction: with 50, first attempts go through bursts.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts } from '../src/ports.ts';
import { startDurableEngines } from './support/durable-engines.ts';
import { gatherEvidence } from './support/evidence.ts';
import { startLoad } from './support/load.ts';
import { print, seconds, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';
import { supervise } from './support/supervisor.ts';
import { startWitness } from './support/witness.ts';

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 40);
const AT_ONCE = Number(process.env.KILL_AT_ONCE ?? 1);
const KINDS = ['worker', 'server', 'temporal', 'postgres'] as const;
type Kind = (typeof KINDS)[number];
/** Share of first attempts that the receivers answer with 503. */
const REFUSE = AT_ONCE > 1 ? 0.005 : 0.02;
/** Longest wait for everything to arrive once the kills are over: a lost attempt and some refusals, each with its wait. */
const DRAIN_MS = 12 * 60_000;

const startedAt = Date.now();
const elapsed = () => `${seconds(Date.now() - startedAt, 1).padStart(7)} s`;
const engines = await startDurableEngines();
const service = createScriptService(engines);
const PORT = String(randomInt(20_000, 32_000));
const kills: { kind: Kind; at: number; downMs: number }[] = [];

/** The kill that a first send was interrupted by: the one nearest to it. */
const closestKill = (at: number) => kills.toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0];

const openDeliveries = async (): Promise<number> => {
  const { open } = await service.db
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('open'))
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return open;
};

try {
  const workspace = await service.workspace('Kills');
  const witnesses = [
    await startWitness(service, workspace, 'quick', { delayMs: 0, refuse: REFUSE }),
    await startWitness(service, workspace, 'slow', { delayMs: AT_ONCE > 1 ? 100 : 1_000, refuse: REFUSE }),
  ];
  const workers = [await supervise('worker.ts', service.env), await supervise('worker.ts', service.env)];
  const server = await supervise('server.ts', { ...service.env, PORT });
  const serverUrl = `http://127.0.0.1:${PORT}`;
  const load = await startLoad({
    service,
    workspace,
    serverUrl,
    storeAtOnce: AT_ONCE,
    storeEveryMs: AT_ONCE > 1 ? 1_000 : 200,
    translateEveryMs: 1_000,
  });

  const killAndRestart = {
    worker: async () => workers[randomInt(workers.length)]?.kill(),
    server: async () => {
      server.kill();
      while (!(await accepts(Number(PORT)))) await sleep(50);
    },
    temporal: async () => {
      await engines.temporal.kill();
      await sleep(randomInt(200, 3_000));
      await engines.temporal.restart();
    },
    postgres: async () => {
      await engines.postgres.kill();
      await sleep(randomInt(200, 3_000));
      await engines.postgres.restart();
    },
  } satisfies Record<Kind, () => Promise<void>>;

  for (let round = 1; round <= ROUNDS; round += 1) {
    const kind = KINDS[round % KINDS.length] ?? 'worker';
    await sleep(randomInt(3_000, 9_000));
    const at = Date.now();
    await killAndRestart[kind]();
    kills.push({ kind, at, downMs: Date.now() - at });
    const arrived = witnesses.reduce((sum, { sends }) => sum + sends.size, 0);
    print(
      `${elapsed()}  round ${round}: ${kind} killed; ${load.stored.size + load.accepted.size} events, ${arrived} arrived`,
    );
  }
  await sleep(5_000);
  await load.stop();
  print(`${elapsed()}  load ended, waiting for what is open`);
  const deadline = Date.now() + DRAIN_MS;
  for (let open = -1; open !== 0 && Date.now() < deadline; ) {
    await sleep(open === -1 ? 0 : 5_000);
    const now = await openDeliveries();
    if (now !== open) print(`${elapsed()}  ${now} deliveries open`);
    open = now;
  }

  const evidence = await gatherEvidence(service.db, load, witnesses);
  const blamed = evidence.duplicatedAt.map((at) => closestKill(at)?.kind);
  print();
  print(
    table([
      ['killed', 'times', 'longest down s', 'sent twice around it'],
      ...KINDS.map((kind) => {
        const ofKind = kills.filter((kill) => kill.kind === kind);
        const longest = Math.max(0, ...ofKind.map(({ downMs }) => downMs));
        return [kind, ofKind.length, seconds(longest, 1), blamed.filter((blame) => blame === kind).length];
      }),
    ]),
  );
  print();
  print(
    table([
      [
        'events',
        'through HTTP',
        'deliveries',
        'in bursts',
        'sends',
        'answered 503',
        'duplicates',
        'not stored or accepted',
      ],
      [
        evidence.events,
        load.accepted.size,
        evidence.deliveries,
        evidence.inBursts,
        evidence.sends,
        evidence.refused,
        evidence.duplicates,
        load.refused.stored + load.refused.accepted,
      ],
    ]),
  );
  const attempts = [...evidence.attempts].sort(([a], [b]) => a - b);
  print(`deliveries by attempts: ${attempts.map(([number, count]) => `${number}: ${count}`).join(', ')}`);
  await Promise.all([server.stop(), ...workers.map((worker) => worker.stop())]);
  const faults = [server, ...workers].flatMap((process) => process.faults);
  print(`ends of worker and server that no kill explains: ${faults.length}`);
  for (const fault of faults) print(`  ${fault}`);
  for (const problem of evidence.problems.slice(0, 20)) print(`OFF: ${problem}`);
  print(evidence.problems.length === 0 ? 'Nothing was lost.' : `${evidence.problems.length} problems.`);
  process.exitCode = evidence.problems.length === 0 ? 0 : 1;
  for (const { receiver } of witnesses) await receiver.close();
} finally {
  await service.stop();
  await engines.stop();
}
