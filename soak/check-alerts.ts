/**
 * Has docs/alerts.yml read and tried by promtool, Prometheus' own checker: no alert fires in a healthy state, and each
 * fires in the states of test/metrics/alerts/cases.ts that are its own. Ends with status 1 when anything is off.
 * promtool comes with Debian's package `prometheus`; PROMTOOL names another one.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { type AlertCase, FIRING, HEALTHY, MINUTES, type State } from '../test/metrics/alerts/cases.ts';
import { ALERTS_FILE, type AlertRule, readAlerts } from '../test/metrics/alerts/rules.ts';
import { temporaryFolder } from './support/engines.ts';
import { conclude, print } from './support/report.ts';

const RULES = fileURLToPath(ALERTS_FILE);
const rules = readAlerts();

const inputOf = (state: State) =>
  Object.entries(state).flatMap(([series, values]) => (values === null ? [] : [{ series, values }]));

/** Prometheus fills labels into a summary; a test compares all of it. */
const filled = (text: string, labels: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');

function firing(rule: AlertRule, { labels = {} }: AlertCase) {
  const { summary, runbook_url } = rule.annotations;
  return [
    {
      exp_labels: { ...labels, ...rule.labels },
      exp_annotations: { summary: filled(summary, labels), runbook_url },
    },
  ];
}

const test = (name: string, state: State, expected: ReadonlyMap<string, unknown[]>) => ({
  name,
  interval: '1m',
  input_series: inputOf(state),
  alert_rule_test: [...expected].map(([alertname, exp_alerts]) => ({
    eval_time: `${MINUTES}m`,
    alertname,
    exp_alerts,
  })),
});

const tests = [
  test('healthy', HEALTHY, new Map(rules.map(({ alert }) => [alert, []]))),
  ...FIRING.map((given, index) => {
    const rule = rules.find(({ alert }) => alert === given.alert);
    if (rule === undefined) throw new Error(`no alert ${given.alert}`);
    const state = { ...HEALTHY, ...given.state };
    return test(`${given.alert} ${index}`, state, new Map([[given.alert, firing(rule, given)]]));
  }),
];

const promtool = process.env.PROMTOOL ?? 'promtool';
/** Runs promtool. @returns what it says when it refuses */
function refusalOf(...args: string[]): string[] {
  const { error, status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
  if (error) {
    throw new Error(
      'This check needs promtool: apt-get install prometheus; or unpack that package with dpkg -x, and name its ' +
        'usr/bin/promtool by PROMTOOL.',
      { cause: error },
    );
  }
  return status === 0 ? [] : [`${stdout}${stderr}`];
}

const folder = temporaryFolder();
try {
  const file = join(folder.path, 'tests.yml');
  writeFileSync(
    file,
    stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }, { aliasDuplicateObjects: false }),
  );
  const problems = [...refusalOf('check', 'rules', RULES), ...refusalOf('test', 'rules', file)];
  print(`${rules.length} alerts, ${FIRING.length} states in which one fires, one in which none does`);
  conclude(problems, 'The alerts fire when they should, and only then.');
} finally {
  folder.remove();
}
