import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { startCollector } from '../support/collector.ts';
import { useDataFolder } from '../support/data-folder.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';
import { launch, ready } from '../support/start.ts';

const service = useTestService();
const folder = useDataFolder();
const NOTED = { NODE_OPTIONS: `--import=${new URL('./support/note-modules.ts', import.meta.url)}` };
const loadedBy = (text: string): string[] => [
  ...new Set([...text.matchAll(/^loaded (\S+)$/gm)].map(([, name = '']) => name)),
];

async function end(process: ServiceProcess): Promise<number> {
  const askedAt = performance.now();
  process.kill('SIGTERM');
  expect(await process.ended).toBe(0);
  return performance.now() - askedAt;
}

// contract.md O1
it.each(['server.ts', 'worker.ts'] as const)(
  '%s loads the SDK where a collector is named, else the API alone, and no library of a model that it does not use',
  async (file) => {
    const off = await startProcess(file, { ...service.env, ...NOTED, PORT: '0' });
    await end(off);
    expect(loadedBy(off.log())).toEqual(['api']);
    const env = { ...service.env, ...NOTED, PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const on = await startProcess(file, env);
    await end(on);
    expect(loadedBy(on.log())).toEqual(
      expect.arrayContaining(['api', 'sdk-trace', 'exporter-trace-otlp-proto', 'context-async-hooks']),
    );
  },
);

// contract.md O1
it('npm start is traced as well, and sends what is left when it stops', async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const env = { ...service.env, DATA_DIR: folder, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const start = launch('src/local/main.ts', env);
  const url = await ready(start);
  const { key } = await service.workspace();
  const { status } = await fetch(`${url}/api/whoami`, { headers: { authorization: `Bearer ${key}` } });
  expect(status).toBe(200);
  start.child.kill('SIGTERM');
  expect(await start.ended).toBe(0);
  expect(collector.spans.map(({ name }) => name)).toContain('GET /api/whoami');
});

// contract.md O4
it.each([
  // Far more than may wait.
  ['is busy', 503, 6_000],
  // Nothing waits for long: some batches.
  ['declines', 400, 2_000],
  ['never responds', null, 6_000],
] as const)(
  'a collector that %s costs no request anything, and a stop three seconds at most',
  async (_, answer, requests) => {
    const collector = await startCollector(() => answer);
    onTestFinished(() => collector.close());
    const env = { ...service.env, PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const server = await startProcess('server.ts', env);
    const [, url = ''] = /listening on (http:[^"]+)/.exec(server.log()) ?? [];
    const { key } = await service.workspace();
    const read = async (): Promise<number> => {
      // Cheaper than fetch, which would be most of this test.
      const response = await request(`${url}/api/whoami`, { headers: { authorization: `Bearer ${key}` } });
      await response.body.dump();
      return response.statusCode;
    };
    const statuses = new Set<number>();
    for (let round = 0; round < requests / 20; round += 1) {
      for (const status of await Promise.all(Array.from({ length: 20 }, read))) statuses.add(status);
    }
    expect([...statuses]).toEqual([200]);
    expect(collector.paths.length).toBeGreaterThan(answer === 400 ? 1 : 0);
    const warnings = server.log().match(/traces not taken by the collector/g) ?? [];
    if (answer === 400) expect(warnings).toHaveLength(1);
    // The server's own drain comes before.
    expect(await end(server)).toBeLessThan(6_000);
  },
);
