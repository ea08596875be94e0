import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const logger = new URL('../../src/logger.ts', import.meta.url);

/** What a process that runs `script` with a logger writes to stderr, and how it ends. */
const run = (script: string) =>
  spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { createLogger } from '${logger}'; const log = createLogger('info', 'x'); ${script}`,
    ],
    { encoding: 'utf8' },
  );

test('every line is written before the process ends, whatever ends it', () => {
  for (const [end, status] of [
    ['', 0],
    ['process.exit(3)', 3],
    ["throw new Error('crash')", 1],
    ["Promise.reject(new Error('crash'))", 1],
    [
      "process.once('SIGTERM', () => process.exit(4)); process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1e4)",
      4,
    ],
  ] as const) {
    const { stderr, status: ended } = run(`for (let n = 0; n < 500; n += 1) log.info({ n }, 'line'); ${end}`);
    expect([end, ended]).toEqual([end, status]);
    expect(stderr.match(/"msg":"line"/g)).toHaveLength(500);
  }
});

test('a line is there a moment after it was logged, while the process goes on', () => {
  const wait = 'await new Promise((resolve) => setTimeout(resolve, 1000));';
  const { stderr } = run(`log.info('line'); ${wait} process.kill(process.pid, 'SIGKILL');`);
  expect(stderr).toContain('"msg":"line"');
});

test('an error is logged without what its message or cause hold of keys and secrets', () => {
  const key = 'wcsk_abcdefghijklmnop';
  const { stderr } = run(
    `log.error({ err: new Error('${key} whsec_qwertyuiop', { cause: new Error('${key}') }), secret: 's3cr3t' }, 'failed');`,
  );
  expect(stderr).toContain('wcsk_[redacted]');
  expect(stderr).not.toMatch(/abcdefghijklmnop|qwertyuiop|s3cr3t/);
});
