/**
 * The service on the engines of docker-compose.yml (Postgres, and Temporal on it) without Docker: servers and two workers.
 * Under load over HTTP, with crowds of events in between, one process after the other is killed with -9 and started again,
 * while partitions of a minute are made and dropped. A single server is never killed. At the end no delivery may be lost, no
 * hold stranded, no request may have failed but those of a killed server, and nothing may have added up. Ends with status 1
 * when anything is off.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { EVENT_TYPES } from '../src/events/catalog.ts';
import { createProject } from '../src/projects/create.ts';
import { createArticle, longDocument } from '../test/support/articles.ts';
import { type Carried, startApiLoad, tallyRows } from './production/api-load.ts';
import { audit } from './production/audit.ts';
import { startComposeEngines } from './production/engines.ts';
import { watchGrowth } from './production/growth.ts';
import { PARTITION_MINUTES, rollPartitions } from './production/partitions.ts';
import { keepRecord } from './production/record.ts';
import { storeCategory, storePublishedArticles } from './support/category.ts';
import { countUnfinished, drain } from './support/drain.ts';
import { quietPort } from './support/durable-engines.ts';
import type { Fault } from './support/evidence.ts';
import { conclude, figures, print, quantile, seconds, setting, startClock, table } from './support/report.ts';
import { createScriptService, type ScriptWorkspace } from './support/service.ts';
import { supervise } from './support/supervisor.ts';
import { watchUsage } from './support/usage.ts';
import { startWitness } from './support/witness.ts';

const MINUTES = setting('PRODUCTION_MINUTES', 5);
const EVENTS_PER_SECOND = setting('PRODUCTION_EVENTS_PER_SECOND', 50);
const SERVERS = setting('PRODUCTION_SERVERS', 1);
const TRANSLATIONS_PER_MINUTE = setting('PRODUCTION_TRANSLATIONS_PER_MINUTE', 30);
const GENERATIONS_PER_MINUTE = setting('PRODUCTION_GENERATIONS_PER_MINUTE', 0);
/** Share of first attempts that the receiver refuses with 503. */
const REFUSED_SHARE = setting('PRODUCTION_REFUSED_SHARE', 0.01);
const KILL_EVERY_MS = setting('PRODUCTION_KILL_EVERY_SECONDS', 5) * 1_000;
const REPORT_EVERY_MS = 30_000;
/** Articles that the load renames, and of them those that the two categories carry: one fans out at once, one later. */
const ARTICLES = 3_000;
const CARRIERS = [900, ARTICLES];

const note = startClock();
const engines = await startComposeEngines(note);
const service = createScriptService(engines);
const { db } = service;

/** Published articles, and the categories that some of them carry. */
async function storeArticles({ context }: ScriptWorkspace): Promise<[string[], Carried[]]> {
  await storePublishedArticles(context, ARTICLES);
  const categories: Carried[] = [];
  for (const count of CARRIERS) {
    const categoryId = await storeCategory(context, count);
    const carriers = await db
      .selectFrom('article_categories')
      .select('article_id')
      .where('category_id', '=', categoryId)
      .execute();
    categories.push({ categoryId, articleIds: carriers.map(({ article_id }) => article_id) });
  }
  return [categories.at(-1)?.articleIds.slice() ?? [], categories];
}

/** Connections to Postgres by who made them. */
async function connections(): Promise<string> {
  const client = new pg.Client({ connectionString: engines.superuserUrl });
  await client.connect();
  const { rows } = await client.query<{ who: string; count: string }>(
    `SELECT CASE WHEN usename = 'temporal' THEN 'Temporal' ELSE application_name END AS who, count(*)
     FROM pg_stat_activity WHERE usename IN ('content', 'temporal') AND application_name <> 'script'
     GROUP BY who ORDER BY who`,
  );
  await client.end();
  return rows.map(({ who, count }) => `${who} ${count}`).join(', ');
}

/** The longest time between two sends, in milliseconds. */
function longestGap(sends: Iterable<{ readonly at: readonly number[] }>): number {
  const times = [...sends].flatMap(({ at }) => at).sort((a, b) => a - b);
  return times.reduce((most, at, index) => Math.max(most, at - (times[index - 1] ?? at)), 0);
}

try {
  const ports: number[] = [];
  while (ports.length < SERVERS) ports.push(await quietPort());
  const env = {
    ...service.env,
    NODE_ENV: 'production',
    RATE_LIMIT_PER_KEY: '',
    PARTITION_MINUTES: String(PARTITION_MINUTES),
    METRICS_PORT: '0',
    DATA_DIR: engines.dataDir,
  };
  const servers = [];
  for (const port of ports) servers.push(await supervise('server.ts', { ...env, PORT: String(port) }));
  const workers = [await supervise('worker.ts', env), await supervise('worker.ts', env)];
  const mortal = SERVERS > 1 ? [...servers, ...workers] : workers;
  note(`servers at ports ${ports.join(', ')} and two workers run`);

  const workspace = await service.workspace('Load');
  await db.updateTable('workspaces').set({ ai_operations_limit: 100_000 }).execute();
  const project = { name: 'Load', languages: ['en', 'es'], primaryLanguage: 'en' };
  const projectId = await createProject(workspace.context, project);
  const article = { document: longDocument(300), status: 'PUBLISHED' } as const;
  const { id: articleId } = await createArticle(db, workspace, projectId, article);
  const witness = await startWitness(
    ...([service, workspace, 'receiver', { delayMs: 0, refuse: REFUSED_SHARE }, EVENT_TYPES] as const),
  );
  const [articleIds, categories] = await storeArticles(workspace);
  await keepRecord(db);
  const rolling = rollPartitions(db, note);
  const processes = {
    ...Object.fromEntries(servers.map(({ pid }, index) => [`server ${index + 1}`, pid])),
    ...Object.fromEntries(workers.map(({ pid }, index) => [`worker ${index + 1}`, pid])),
    Temporal: () => engines.temporalPid,
  };
  const usage = watchUsage(processes);

  const load = startApiLoad({
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    key: workspace.key,
    workspaceId: workspace.id,
    projectId,
    articleId,
    articleIds,
    renamesPerSecond: EVENTS_PER_SECOND,
    translationsPerMinute: TRANSLATIONS_PER_MINUTE,
    generationsPerMinute: GENERATIONS_PER_MINUTE,
    categories,
  });
  const requests = () => load.tallies.reduce((sum, tally) => sum + tally.requests, 0);
  const growth = watchGrowth(db, processes, requests, MINUTES);
  const end = Date.now() + MINUTES * 60_000;
  const restarts: Promise<Fault>[] = [];
  let reportedAt = Date.now();
  while (Date.now() < end) {
    await sleep(KILL_EVERY_MS * (0.6 + Math.random() * 0.8));
    const ready = mortal.filter((each) => each.ready());
    const victim = ready[randomInt(Math.max(1, ready.length))];
    if (victim !== undefined) {
      const at = Date.now();
      restarts.push(victim.kill().then(() => ({ at, downMs: Date.now() - at })));
    }
    if (Date.now() - reportedAt < REPORT_EVERY_MS) continue;
    reportedAt = Date.now();
    const { deliveries, jobs } = await countUnfinished(db);
    note(
      `${restarts.length} kills, ${witness.sends.size} deliveries arrived, ${deliveries} open, ${jobs} jobs open`,
    );
  }
  note(`connections to Postgres: ${await connections()}`);
  const grown = await growth.stop();
  await load.stop();
  const kills = await Promise.all(restarts);
  const gap = longestGap(witness.sends.values());
  note('load ended, waiting for what is open');
  const left = await drain(db, note);
  const { problems, attempts, waits, ...found } = await audit(db, workspace.id, witness, load, kills);
  await rolling.stop();
  const { memory, load: loads } = usage.stop();
  await Promise.all([...servers, ...workers].map((each) => each.stop()));

  print();
  print(table(tallyRows(load.tallies)));
  print();
  print(
    figures({
      kills: kills.length,
      'longest restart s': seconds(Math.max(0, ...kills.map(({ downMs }) => downMs)), 1),
      ...found,
      'gap s': seconds(gap, 1),
    }),
  );
  print();
  const byAttempts = [...attempts].sort(([a], [b]) => a - b).map(([number, count]) => `${number}: ${count}`);
  print(`deliveries by attempts: ${byAttempts.join(', ')}; translations: ${load.accepted.size}`);
  const [p50, p95, longest] = [0.5, 0.95, 1].map((share) => seconds(quantile(waits, share)));
  print(`stored to first send: p50 ${p50} s, p95 ${p95} s, longest ${longest} s`);
  print(
    `partitions: ${rolling.dropped} dropped in ${rolling.rounds} rounds (longest ${rolling.longestMs.toFixed(0)} ms), ` +
      `with ${rolling.rows.events} events and ${rolling.rows.deliveries} deliveries`,
  );
  print(`most memory: ${memory}; load: ${loads}`);
  print(`\n${grown.report}\n`);
  const failures = load.tallies.flatMap(({ name, failures }) => failures.map((text) => `${name}: ${text}`));
  const faults = [...servers, ...workers].flatMap((each) => each.faults);
  conclude(
    [...left, ...problems, ...rolling.problems, ...grown.problems, ...failures, ...faults],
    'No delivery was lost, no hold stranded, no request failed, nothing added up.',
  );
  await witness.receiver.close();
} finally {
  await service.stop();
  await engines.stop();
}
