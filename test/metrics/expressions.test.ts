import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { dashboards } from '../../soak/dashboards/dashboards.ts';
import { advancePruneClock } from '../../src/db/prune-clock.ts';
import { HOLD_PURPOSES } from '../../src/db/tables.ts';
import { UNAVAILABLE_CAUSES } from '../../src/errors.ts';
import { PROBLEMS } from '../../src/http/problems.ts';
import { PRUNE_STEPS } from '../../src/metrics/prune.ts';
import { ROUNDS } from '../../src/metrics/reconcile.ts';
import { startServer } from '../../src/processes/server.ts';
import { logger, useTestService, WITH_SCHEDULES } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { type AlertCase, FIRING, HEALTHY } from './alerts/cases.ts';
import { readAlerts } from './alerts/rules.ts';
import { type Exported, exportedBy, missingIn } from './support/exported.ts';
import { scrape } from './support/exposition.ts';
import { readExpression } from './support/promql.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');

const service = useTestService();
const alerts = readAlerts();
let exported: Exported;

beforeAll(async () => {
  const server = await startServer(service.config, logger);
  await advancePruneClock(service.db, 'a night');
  const worker = await service.startWorker(WITH_SCHEDULES);
  const { key } = await service.workspace();
  for (const [path, authorization] of [
    ['/api/whoami', `Bearer ${key}`],
    ['/api/whoami', 'Bearer nobody'],
    ['/nowhere', ''],
  ] as const) {
    await fetch(new URL(path, server.url), { headers: { authorization } });
  }
  const ofWorker = await eventually(
    () => scrape(worker.metricsUrl),
    ({ samples }) =>
      samples.some(({ name }) => name === 'temporal_activity_execution_latency_seconds_count') &&
      ROUNDS.every((round) => samples.some(({ labels }) => labels.round === round)),
  );
  exported = exportedBy([await scrape(server.metricsUrl), ofWorker]);
  await server.stop();
});

/** The names in a text that Prometheus or Grafana fills: `{{ $labels.job }}`, `{{job}}`. */
const filledIn = (text: string): string[] =>
  [...text.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label = '']) => label);

// contract.md O23
it('every metric and label of an alert is exported', () => {
  expect(alerts.length).toBeGreaterThan(30);
  const missing = alerts.flatMap(({ alert, expr, annotations }) => {
    const { selectors, labels } = readExpression(expr);
    const named = [...labels, ...filledIn(annotations.summary)];
    return missingIn(exported, { selectors, labels: named }).map((what) => `${alert}: ${what}`);
  });
  expect(missing).toEqual([]);
});

it('every metric and label of a dashboard is exported', () => {
  const files = globSync('docs/dashboards/*.json', { cwd: root });
  expect(files.length).toBe(dashboards.length);
  const missing = files.flatMap((file) => {
    const { panels } = JSON.parse(read(file)) as {
      panels: { title: string; targets?: { expr: string; legendFormat: string }[] }[];
    };
    return panels.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr, legendFormat }) => {
        const { selectors, labels } = readExpression(expr.replaceAll('$__rate_interval', '5m'));
        const named = [...labels, ...filledIn(legendFormat)];
        return missingIn(exported, { selectors, labels: named }).map((what) => `${file}, ${title}: ${what}`);
      }),
    );
  });
  expect(missing).toEqual([]);
});

it('a metric or label that is not exported is named', () => {
  const missing = missingIn(
    exported,
    readExpression(
      'sum by (tenant) (rate(http_request_duration_seconds_count{tenant="x"}[5m])) > no_such_total',
    ),
  );
  expect(missing).toEqual([
    'label tenant of http_request_duration_seconds_count',
    'metric no_such_total',
    'label tenant',
  ]);
});

/** Values that a label can have but need not have had in this test. */
const POSSIBLE: Readonly<Record<string, readonly string[]>> = {
  status: Object.values(PROBLEMS).map(({ status }) => String(status)),
  cause: UNAVAILABLE_CAUSES,
  round: ROUNDS,
  step: PRUNE_STEPS,
  purpose: HOLD_PURPOSES,
  kind: ['translation', 'refresh', 'generate', 'outline', 'image'],
  job: ['content-service-server', 'content-service-worker'],
  instance: ['server:9464', 'worker:9464'],
};

const canBe = (name: string, label: string, wanted: (value: string) => boolean): boolean =>
  [...(exported.get(name)?.get(label) ?? []), ...(POSSIBLE[label] ?? [])].some(wanted);

it('the state of every alert exists: the values that it looks for are exported', () => {
  const impossible = alerts.flatMap(({ alert, expr }) =>
    readExpression(expr).selectors.flatMap(({ name, matchers }) =>
      matchers
        .filter(({ operator }) => !operator.startsWith('!'))
        .filter(({ label, operator, value }) => {
          const pattern = new RegExp(`^(?:${value})$`);
          return !canBe(name, label, (each) => (operator === '=~' ? pattern.test(each) : each === value));
        })
        .map(({ label, value }) => `${alert}: ${name}{${label}="${value}"}`),
    ),
  );
  expect(impossible).toEqual([]);
  const listed = readExpression(alerts.find(({ alert }) => alert === 'ReconcileNotSeen')?.expr ?? '');
  expect(listed.selectors.map(({ matchers }) => matchers[0]?.value)).toEqual([...ROUNDS]);
});

it('each alert has a state to be tried in, of series that are exported', () => {
  const tried = new Set(FIRING.map(({ alert }: AlertCase) => alert));
  expect([...tried].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  const series = new Set(
    [HEALTHY, ...FIRING.map(({ state }) => state)].flatMap((state) => Object.keys(state)),
  );
  const unknown = [...series].flatMap((text) => {
    const [selector] = readExpression(text).selectors;
    if (selector === undefined) return [text];
    const { name, matchers } = selector;
    // Buckets and queues of a real scrape have names of their own.
    const checked = matchers.filter(({ label }) => !['le', 'task_queue', 'route'].includes(label));
    return [
      ...missingIn(exported, { selectors: [selector], labels: [] }),
      ...checked
        .filter(({ label, value }) => !canBe(name, label, (each) => each === value))
        .map(({ label, value }) => `${name}{${label}="${value}"}`),
    ];
  });
  expect([...new Set(unknown)]).toEqual([]);
});

it('each alert has its runbook, and each runbook its alert', () => {
  const runbooks = [...read('docs/runbooks.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect([...runbooks].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  for (const { alert, annotations, labels } of alerts) {
    const urgency = labels.severity === 'page' ? 'Page' : 'Ticket';
    expect(read('docs/runbooks.md')).toContain(`### ${alert}\n\n${urgency}. `);
    expect(annotations.runbook_url).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
  }
});

it('the dashboards are those that the script makes', () => {
  for (const { file, dashboard } of dashboards) {
    expect(JSON.parse(read(`docs/dashboards/${file}`)), file).toEqual(JSON.parse(JSON.stringify(dashboard)));
  }
});
