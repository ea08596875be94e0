/**
 * Breaks worker, server, Temporal, Postgres and the network between them at random moments under load, for KILL_ROUNDS
 * rounds (60): see {@link faultsOf}. Every event that was stored must reach its receivers at least once, and each event
 * one receiver under one delivery id only, and a client that pulls the log has to read each exactly once; no delivery is tried more than six times, and what is sent beyond the
 * attempts that its row counts is explained by a fault that it met or by a connection that was used again. Ends with
 * status 1 when anything is off.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTcpProxy, type TcpProxy } from '../test/support/tcp-proxy.ts';
import { drain } from './support/drain.ts';
import { startDurableEngines } from './support/durable-engines.ts';
import { type Fault, gatherEvidence } from './support/evidence.ts';
import { FAULT_KINDS, type FaultKind, faultsOf } from './support/faults.ts';
import { startLoad } from './support/load.ts';
import { startPuller } from './support/puller.ts';
import { conclude, figures, print, seconds, setting, startClock, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';
import { supervise } from './support/supervisor.ts';
import { startWitness } from './support/witness.ts';

const ROUNDS = setting('KILL_ROUNDS', 60);
const AT_ONCE = setting('KILL_AT_ONCE', 50);
const CROWD_MS = setting('KILL_CROWD_MS', 2_000);
const SINGLE_MS = setting('KILL_SINGLE_MS', 200);
const wanted = process.env.KILL_KINDS?.split(',');
const KINDS = FAULT_KINDS.filter((kind) => wanted?.includes(kind) ?? true);
/** Kinds that take their time: the next rounds go on meanwhile. */
const SLOW: readonly FaultKind[] = ['frozen', 'silent'];
/** Share of first attempts that the receivers refuse with 503. */
const REFUSE = 0.01;

const note = startClock();
const engines = await startDurableEngines();
const service = createScriptService(engines);
const PORT = randomInt(20_000, 32_000);
const kills: (Fault & { kind: FaultKind })[] = [];

/** The kill nearest to a first send. */
const closestKill = (at: number) => kills.toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0];

/** A door before one of the first worker's engines. @param address host:port or a connection string */
async function proxied(address: string): Promise<{ proxy: TcpProxy; address: string }> {
  const isUrl = address.includes('://');
  const url = new URL(isUrl ? address : `tcp://${address}`);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  const { host } = url;
  return { proxy, address: address.replace(host, proxy.address) };
}

try {
  const workspace = await service.workspace('Kills');
  const witnesses = [
    await startWitness(service, workspace, 'quick', { delayMs: 0, refuse: REFUSE }),
    await startWitness(service, workspace, 'slow', { delayMs: AT_ONCE > 1 ? 300 : 1_000, refuse: REFUSE }),
  ];
  const postgres = await proxied(engines.databaseUrl);
  const temporal = await proxied(engines.temporalAddress);
  const proxies = [postgres.proxy, temporal.proxy];
  const behindProxies = { DATABASE_URL: postgres.address, TEMPORAL_ADDRESS: temporal.address };
  const workers = [
    await supervise('worker.ts', { ...service.env, ...behindProxies }),
    await supervise('worker.ts', service.env),
  ];
  const server = await supervise('server.ts', { ...service.env, PORT: String(PORT) });
  const puller = startPuller(service, workspace, `http://127.0.0.1:${PORT}`);
  const load = await startLoad({
    service,
    workspace,
    serverUrl: `http://127.0.0.1:${PORT}`,
    storeAtOnce: 1,
    storeEveryMs: SINGLE_MS,
    translateEveryMs: 1_000,
    ...(AT_ONCE > 0 ? { crowds: { atOnce: AT_ONCE, everyMs: CROWD_MS } } : {}),
  });
  const faults = faultsOf({ engines, workers, server, proxies });
  const slowOnes = new Map<FaultKind, Promise<void>>();

  const breakOne = async (kind: FaultKind) => {
    const at = Date.now();
    await faults[kind]();
    kills.push({ kind, at, downMs: Date.now() - at });
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    const kind = KINDS[round % KINDS.length] ?? 'worker';
    await sleep(randomInt(3_000, 9_000));
    await slowOnes.get(kind);
    const broken = breakOne(kind);
    if (SLOW.includes(kind)) slowOnes.set(kind, broken);
    else await broken;
    const arrived = witnesses.reduce((sum, { sends }) => sum + sends.size, 0);
    note(
      `${new Date().toISOString().slice(11)}  round ${round}: ${kind}; ${load.stored.size + load.accepted.size} events, ${arrived} arrived`,
    );
  }
  await Promise.all(slowOnes.values());
  await sleep(5_000);
  await load.stop();
  note('load ended, waiting for what is open');
  const left = await drain(service.db, note);
  const notPulled = await puller.finish();
  const evidence = await gatherEvidence(service.db, load, witnesses, kills);
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
    figures({
      events: evidence.events,
      'through HTTP': load.accepted.size,
      pulled: puller.pulled(),
      deliveries: evidence.deliveries,
      'in bursts': evidence.inBursts,
      sends: evidence.sends,
      'refused (503)': evidence.refused,
      duplicates: evidence.duplicates,
      'beyond attempts': evidence.uncounted,
      'not stored or accepted': load.refused.stored + load.refused.accepted,
    }),
  );
  const attempts = [...evidence.attempts].sort(([a], [b]) => a - b);
  print(`deliveries by attempts: ${attempts.map(([number, count]) => `${number}: ${count}`).join(', ')}`);
  for (const line of evidence.stubborn.slice(0, 20)) print(`  ${line}`);
  await Promise.all([server.stop(), ...workers.map((worker) => worker.stop())]);
  const ends = [server, ...workers].flatMap((process) => process.faults);
  print(`ends of worker and server that no kill explains: ${ends.length}`);
  for (const end of ends) print(`  ${end}`);
  conclude([...left, ...notPulled, ...evidence.problems], 'Nothing was lost.');
  for (const { receiver } of witnesses) await receiver.close();
  for (const proxy of proxies) await proxy.close();
} finally {
  await service.stop();
  await engines.stop();
}
