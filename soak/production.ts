/**
 * The service as docker-compose.yml and the Dockerfile have it, without Docker: Postgres, Temporal on Postgres, the
 * image built in an empty folder, `migrate`, one server and two workers from there, as the image's user. Under load
 * over HTTP, with crowds of events in between, one worker after the other is killed with -9 every few seconds and started
 * again, while partitions of a minute are made and dropped. At the end no delivery may be lost, no hold stranded, and no
 * request may have failed. Ends with status 1 when anything is off.
 *
 * Environment: PRODUCTION_MINUTES (5), PRODUCTION_KILL_EVERY_SECONDS (5), PRODUCTION_EVENTS_PER_SECOND (50). Needs Go
 * once, to build the Temporal server.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { VerbContext } from '../src/context.ts';
import { createDatabase } from '../src/db/database.ts';
import { EVENT_TYPES } from '../src/events/catalog.ts';
import type { WorkspaceId } from '../src/ids.ts';
import { type Carried, startApiLoad, tallyRows } from './production/api-load.ts';
import { audit, countOpen, startAuditor } from './production/audit.ts';
import { type Deployment, deploy } from './production/deployment.ts';
import { PARTITION_MINUTES, rollPartitions } from './production/partitions.ts';
import { completed, watch } from './production/programs.ts';
import { keepRecord } from './production/record.ts';
import { startReplica } from './production/replica.ts';
import { watchUsage } from './production/usage.ts';
import { storeCategory, storePublishedArticles } from './support/category.ts';
import type { Fault } from './support/evidence.ts';
import { print, quantile, seconds, table } from './support/report.ts';

const MINUTES = Number(process.env.PRODUCTION_MINUTES ?? 5);
const EVENTS_PER_SECOND = Number(process.env.PRODUCTION_EVENTS_PER_SECOND ?? 50);
const KILL_EVERY_MS = Number(process.env.PRODUCTION_KILL_EVERY_SECONDS ?? 5) * 1_000;
/** A lost attempt is seen after 20 s and made again after its wait; a few in a row take minutes. */
const DRAIN_MS = 12 * 60_000;
/** Articles that the load renames, and of them those that the two categories carry: one is told of at once, one later. */
const ARTICLES = 3_000;
const CARRIERS = [900, ARTICLES];

const startedAt = Date.now();
const note = (line: string) => print(`${seconds(Date.now() - startedAt, 1).padStart(7)} s  ${line}`);

/** The operator's command line, run in the image as `docker compose run --rm server node src/cli/admin.ts` would. */
async function admin(deployment: Deployment, ...args: string[]): Promise<Record<string, unknown>> {
  const command = ['node', 'src/cli/admin.ts', '--json', ...args];
  const program = watch(
    deployment.image.start(command, deployment.envOf('server')),
    join(deployment.folder, 'admin.log'),
  );
  await completed('admin', program);
  return JSON.parse(program.log().trim().split('\n').at(-1) ?? '{}');
}

/** So many published articles, and the categories that some of them carry. */
async function storeArticles(workspaceId: WorkspaceId): Promise<[string[], Carried[]]> {
  const context = { db, actor: { kind: 'operator', workspaceId }, requestId: 'soak' } satisfies VerbContext;
  await storePublishedArticles(context, ARTICLES);
  const categories: Carried[] = [];
  for (const count of CARRIERS) {
    const categoryId = await storeCategory(context, count);
    const carriers = await db
      .selectFrom('article_categories')
      .innerJoin('articles', 'articles.id', 'article_id')
      .select('article_id')
      .where('category_id', '=', categoryId)
      .where('status', '=', 'PUBLISHED')
      .execute();
    categories.push({ categoryId, articleIds: carriers.map(({ article_id }) => article_id) });
  }
  return [categories.at(-1)?.articleIds.slice() ?? [], categories];
}

/** Connections to Postgres by who made them. */
async function connections(superuserUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  const { rows } = await client.query<{ who: string; count: string }>(
    `SELECT CASE WHEN usename = 'temporal' THEN 'Temporal' ELSE application_name END AS who, count(*)
     FROM pg_stat_activity WHERE usename IN ('content', 'temporal') AND application_name <> 'script'
     GROUP BY who ORDER BY who`,
  );
  await client.end();
  return rows.map(({ who, count }) => `${who} ${count}`).join(', ');
}

const deployment = await deploy(note, { PARTITION_MINUTES: String(PARTITION_MINUTES) });
const db = createDatabase({
  connectionString: deployment.databaseUrl,
  applicationName: 'script',
  statementTimeout: 120_000,
});
try {
  const { image, folder } = deployment;
  const replica = (name: string, service: string, command: readonly string[]) =>
    startReplica(name, image, command, deployment.envOf(service), join(folder, `${name}.log`));
  const server = await replica('server', 'server', image.command);
  const workers = [
    await replica('worker 1', 'worker', ['node', 'worker.ts']),
    await replica('worker 2', 'worker', ['node', 'worker.ts']),
  ];
  note(`server at ${server.url()} and two workers run as uid ${image.user.uid}`);

  const created = await admin(deployment, 'workspace', 'create', '--name', 'Load', '--credits', '100000');
  const { workspaceId, apiKey } = created as { workspaceId: WorkspaceId; apiKey: { key: string } };
  await admin(deployment, 'quota', 'set', '--workspace', workspaceId, '--ai-operations', '100000');
  const { projectId } = await admin(
    ...([deployment, 'project', 'create', '--workspace', workspaceId, '--name', 'Load'] as const),
    ...['--languages', 'en,es', '--primary-language', 'en'],
  );
  const { articleId } = await admin(
    ...([deployment, 'article', 'import', '--project', String(projectId), '--language', 'en'] as const),
    ...['--file', join(image.workdir, 'docs/errors/conflict.md'), '--status', 'PUBLISHED'],
  );
  const auditor = await startAuditor();
  const registered = await fetch(new URL(`/api/workspaces/${workspaceId}/webhooks`, server.url()), {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: auditor.receiver.url, events: EVENT_TYPES }),
  });
  if (registered.status !== 201) throw new Error(`endpoint: ${registered.status} ${await registered.text()}`);
  auditor.trust(((await registered.json()) as { secret: string }).secret);
  const [articleIds, categories] = await storeArticles(workspaceId);
  await keepRecord(db);
  const rolling = rollPartitions(db, note);
  const watched = [server, ...workers].map(({ name, pid }) => ({ name, pid }));
  const usage = watchUsage([...watched, { name: 'Temporal', pid: () => deployment.temporalPid }]);

  const load = startApiLoad({
    url: server.url(),
    key: apiKey.key,
    workspaceId,
    projectId: String(projectId),
    articleId: String(articleId),
    articleIds,
    renamesPerSecond: EVENTS_PER_SECOND,
    categories,
  });
  const end = Date.now() + MINUTES * 60_000;
  const restarts: Promise<Fault>[] = [];
  let told = Date.now();
  while (Date.now() < end) {
    await sleep(KILL_EVERY_MS * (0.6 + Math.random() * 0.8));
    const ready = workers.filter((worker) => worker.ready());
    const victim = ready[randomInt(Math.max(1, ready.length))];
    if (victim !== undefined) {
      const at = Date.now();
      restarts.push(victim.kill().then(() => ({ at, downMs: Date.now() - at })));
    }
    if (Date.now() - told < 30_000) continue;
    told = Date.now();
    const open = await countOpen(db);
    note(
      `${restarts.length} kills, ${auditor.arrived.size} deliveries arrived, ${open.deliveries} open, ${open.jobs} jobs open`,
    );
  }
  note(`connections to Postgres: ${await connections(deployment.superuserUrl)}`);
  await load.stop();
  const kills = await Promise.all(restarts);
  const gap = { ...auditor.gap };
  note('load ended, waiting for what is open');
  const deadline = Date.now() + DRAIN_MS;
  for (let last = ''; Date.now() < deadline; await sleep(2_000)) {
    const open = await countOpen(db);
    const text = `${open.deliveries} deliveries, ${open.jobs} jobs and ${open.holds} holds open`;
    if (text !== last) note(text);
    last = text;
    if (open.deliveries + open.jobs + open.holds === 0) break;
  }
  const findings = await audit(db, auditor, load, kills);
  await rolling.stop();
  const { memory, load: loads } = usage.stop();
  const stops = await Promise.all([server, ...workers].map((each) => each.stop()));

  print();
  print(table(tallyRows(load.tallies)));
  print();
  const { events, deliveries, inRuns, sends, refused, repeats, waits, wallet } = findings;
  print(
    table([
      [
        'kills',
        'longest restart s',
        'events',
        'deliveries',
        'in runs',
        'sends',
        'refused',
        'repeats',
        'gap s',
      ],
      [
        ...[kills.length, seconds(Math.max(0, ...kills.map(({ downMs }) => downMs)), 1)],
        ...[events, deliveries, inRuns, sends, refused, repeats, seconds(gap.ms, 1)],
      ],
    ]),
  );
  print();
  const attempts = [...findings.attempts].sort(([a], [b]) => a - b);
  print(`deliveries by attempts: ${attempts.map(([number, count]) => `${number}: ${count}`).join(', ')}`);
  const [p50, p95, longest] = [0.5, 0.95, 1].map((share) => seconds(quantile(waits, share)));
  print(`stored to first send: p50 ${p50} s, p95 ${p95} s, longest ${longest} s`);
  print(
    `partitions: ${rolling.dropped} dropped in ${rolling.rounds} rounds (longest ${rolling.longestMs.toFixed(0)} ms), ` +
      `with ${rolling.rows.events} events and ${rolling.rows.deliveries} deliveries`,
  );
  print(`translations: ${load.jobs.size}, ${JSON.stringify(findings.jobs)}`);
  print(`credits: balance ${wallet.balance}, ledger ${wallet.ledger}, reserved ${wallet.reserved}`);
  print(`most memory: ${memory}; load: ${loads}; exit codes: ${stops.join(', ')}`);
  const failures = load.tallies.flatMap(({ name, failures }) => failures.map((text) => `${name}: ${text}`));
  const faults = [server, ...workers].flatMap((each) => each.faults);
  if (stops.some((status) => status !== 0)) faults.push(`not every process stopped in order: ${stops}`);
  const problems = [...findings.problems, ...rolling.problems, ...failures, ...faults];
  for (const problem of problems.slice(0, 20)) print(`OFF: ${problem}`);
  print(
    problems.length === 0
      ? 'No delivery was lost, no hold stranded, no request failed.'
      : `${problems.length} problems.`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
  await auditor.receiver.close();
} finally {
  await db.destroy();
  await deployment.stop();
}
