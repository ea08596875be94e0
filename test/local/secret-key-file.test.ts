import { spawn } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { withLocalKeys } from '../../src/local/secret-key-file.ts';
import { newSecretKey } from '../../src/secret-keys.ts';
import { temporaryFolder } from './helpers.ts';

const MAKER = `
  import { loadConfig } from './src/config.ts';
  import { withLocalKeys } from './src/local/secret-key-file.ts';
  const [key] = withLocalKeys(loadConfig()).SECRETS_KEYS;
  process.stdout.write(key.id + key.key.export().toString('hex'));
`;

test('processes that start at once on a new folder make one key and all use it', async ({
  onTestFinished,
}) => {
  const folder = join(temporaryFolder(onTestFinished), 'data');
  const outputs = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const env = { ...process.env, DATA_DIR: folder, SECRETS_KEYS: '', SECRETS_AT_REST: '' };
      const child = spawn(process.execPath, ['--input-type=module', '--eval', MAKER], { env });
      return (await buffer(child.stdout)).toString();
    }),
  );
  expect(outputs[0]).toMatch(/^local[0-9a-f]{64}$/);
  expect(new Set(outputs).size).toBe(1);
  expect(readdirSync(folder)).toEqual(['secrets.key']);
});

test('a folder keeps its key, the environment wins, and a file of another form is named without its text', ({
  onTestFinished,
}) => {
  const DATA_DIR = temporaryFolder(onTestFinished);
  const file = join(DATA_DIR, 'secrets.key');
  const idsWith = (env: Record<string, string>) =>
    withLocalKeys(loadConfig({ DATA_DIR, ...env })).SECRETS_KEYS.map(({ id }) => id);
  expect(idsWith({ SECRETS_KEYS: newSecretKey('mine') })).toEqual(['mine']);
  expect(idsWith({ SECRETS_AT_REST: 'off' })).toEqual([]);
  expect(readdirSync(DATA_DIR)).toEqual([]);
  writeFileSync(file, `${newSecretKey('next')},${newSecretKey('local')}\n`);
  expect(idsWith({})).toEqual(['next', 'local']);
  writeFileSync(file, 'hunter2');
  expect(() => idsWith({})).toThrow(`${file}: expected id:base64`);
  expect(() => idsWith({})).not.toThrow('hunter2');
  rmSync(file);
  expect(idsWith({})).toEqual(['local']);
});
