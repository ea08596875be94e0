import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { ConfigurationError, loadConfig } from '../../../src/config.ts';
import { openSecretRing } from '../../../src/processes/secret-ring.ts';
import { newSecretKey, parseSecretKeys } from '../../../src/secret-keys.ts';
import { rotateSecrets } from '../../../src/webhooks/secrets/rotate.ts';
import { runCli } from '../../cli/run.ts';
import { emit, insertEndpoint, register } from '../../support/events.ts';
import { bareEnvironment, type ServiceProcess, startProcess } from '../../support/processes.ts';
import { startReceiver } from '../../support/receiver.ts';
import { logger, useTestService } from '../../support/service.ts';
import { untilReceived } from '../relay/support.ts';

// Without a server of the same database in this process, whose keys would count as used.
const service = useTestService({ SECRETS_KEYS: '', SECRETS_AT_REST: 'off' });
const FILES = ['server.ts', 'worker.ts'] as const;

async function start(file: (typeof FILES)[number], env: Record<string, string>): Promise<ServiceProcess> {
  const started = await startProcess(file, { ...service.env, SECRETS_AT_REST: '', ...env });
  onTestFinished(async () => {
    started.kill('SIGTERM');
    await started.ended;
  });
  return started;
}

/** The status of a process that does not start. */
async function endOf(file: string, env: Record<string, string>): Promise<number | null> {
  const variables = { ...bareEnvironment(), ...service.env, SECRETS_AT_REST: '', ...env };
  const [code] = await once(spawn(process.execPath, [file], { env: variables, stdio: 'ignore' }), 'exit');
  return code;
}

const stored = async () => {
  const rows = await service.db.selectFrom('webhook_endpoints').select(['secret', 'secret_key_id']).execute();
  return rows.map(({ secret, secret_key_id }) => [secret.slice(0, 6), secret_key_id]);
};

// contract.md W23
it('a server or worker starts with the keys of its database, or ends with status 1 and the name of the variable', async () => {
  const [old, next] = [newSecretKey('old'), newSecretKey('next')];
  const wrong = newSecretKey('old');
  const refused = async (env: Record<string, string>, message: RegExp) => {
    const config = loadConfig({ SECRETS_AT_REST: 'on', ...env });
    const opening = openSecretRing(config, service.db, logger);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toBeInstanceOf(ConfigurationError);
  };
  await expect(start('server.ts', {})).rejects.toThrow(/SECRETS_KEYS: needed/);
  await refused({}, /SECRETS_KEYS: needed/);

  const off = await start('server.ts', { SECRETS_AT_REST: 'off' });
  expect(off.log().match(/SECRETS_AT_REST=off: webhook secrets are stored in clear/g)).toHaveLength(1);
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  await register(service, workspace, receiver.url);
  for (let count = 0; count < 3; count += 1)
    await insertEndpoint(service.db, workspace.id, { events: ['ping'] });
  await insertEndpoint(service.db, workspace.id, { events: ['ping'], secret: '', deleted_at: new Date() });
  expect(await stored()).toEqual([...Array(4).fill(['whsec_', null]), ['', null]]);

  // The first start with keys encrypts what is there in clear, and sends with it.
  await Promise.all([start('worker.ts', { SECRETS_KEYS: old }), start('worker.ts', { SECRETS_KEYS: old })]);
  const encrypted = await stored();
  expect(encrypted.filter(([, keyId]) => keyId === 'old')).toHaveLength(4);
  expect(encrypted).toContainEqual(['', null]);
  await emit(service, workspace);
  await untilReceived(receiver, 1);

  await refused({ SECRETS_AT_REST: 'off' }, /SECRETS_AT_REST: off is refused.*"old"/);
  for (const file of FILES) expect(await endOf(file, { SECRETS_KEYS: wrong })).toBe(1);
  await refused({ SECRETS_KEYS: wrong }, /SECRETS_KEYS: the key "old" is not the one/);
  await refused({ SECRETS_KEYS: next }, /SECRETS_KEYS: webhook secrets are encrypted with "old"/);
  const open = (SECRETS_KEYS: string) => openSecretRing(loadConfig({ SECRETS_KEYS }), service.db, logger);
  expect((await open(`${next},${old}`)).keyIds).toEqual(['next', 'old']);
  await refused(
    { SECRETS_KEYS: `${old},next${wrong.slice(3)}` },
    /SECRETS_KEYS: the key "next" is not the one/,
  );

  // The operator's command needs the same keys, and removes none.
  const rotate = (SECRETS_KEYS: string) =>
    runCli('admin', ['secrets', 'rotate', '--json'], {
      DATABASE_URL: service.config.DATABASE_URL,
      SECRETS_KEYS,
    });
  const third = newSecretKey('third');
  for (const keys of [[wrong], [next], [third, old]]) {
    const refusal = rotateSecrets(service.db, parseSecretKeys(keys), () => undefined);
    await expect(refusal).rejects.toThrow(/^SECRETS_KEYS: /);
  }
  expect(await rotate('')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'error: SECRETS_KEYS: needed, but not set\n',
  });
  const rotated = await rotate(`${next},${old}`);
  expect(rotated).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/4 encrypted with next\n(.*\n)*no endpoint names the key old any more/),
  });
  expect(JSON.parse(rotated.stdout)).toEqual({
    ok: true,
    keyId: 'next',
    from: [
      { keyId: 'clear', encrypted: 0, left: 0, unreadable: 0 },
      { keyId: 'old', encrypted: 4, left: 0, unreadable: 0 },
    ],
  });
  expect((await open(next)).keyIds).toEqual(['next']);
  await service.db.deleteFrom('webhook_open').execute();
  await service.db.updateTable('webhook_endpoints').set({ secret: '', deleted_at: new Date() }).execute();
  await refused(
    { SECRETS_KEYS: newSecretKey('new') },
    /SECRETS_KEYS: it has none of the keys.*"old", "next"/,
  );
  const { rows } = await sql`SELECT id FROM secret_keys ORDER BY created_at`.execute(service.db);
  expect(rows).toEqual([{ id: 'old' }, { id: 'next' }]);
}, 180_000);
