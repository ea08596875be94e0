import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { startServer } from '../../../src/processes/server.ts';
import { newSecretKey, parseSecretKeys } from '../../../src/secret-keys.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { rotateSecrets } from '../../../src/webhooks/secrets/rotate.ts';
import { verifyWebhook } from '../../../src/webhooks/verify.ts';
import { emit, emitTogether, insertEndpoint } from '../../support/events.ts';
import { startReceiver } from '../../support/receiver.ts';
import { logger, startTestService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const [OLD, NEW] = [newSecretKey('old'), newSecretKey('new')];
const both = parseSecretKeys([NEW, OLD]);

async function serve(keys: string): Promise<TestService> {
  const service = await startTestService({ SECRETS_KEYS: keys });
  onTestFinished(() => service.stop());
  return service;
}

/** Registers over HTTP with whichever server. */
async function registerAt(url: string, key: string, workspaceId: string, receiverUrl: string) {
  const response = await fetch(`${url}/api/workspaces/${workspaceId}/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiverUrl, events: ['article.created'] }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { secret: string }).secret;
}

// contract.md W22 and W23
it('a change of the key under load loses no delivery, refuses no registration, and every signature verifies', async () => {
  const service = await serve(OLD);
  const workspace = await service.workspace();
  const secrets = new Map<string, string>();
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const subscribe = async (serverUrl: string) => {
    const path = `/${secrets.size}`;
    secrets.set(path, '');
    secrets.set(path, await registerAt(serverUrl, workspace.key, workspace.id, receiver.origin + path));
  };
  for (let count = 0; count < 5; count += 1) await subscribe(service.url);
  const paths = [...secrets.keys()];

  let isLoaded = true;
  let events = 0;
  const load = (async () => {
    while (isLoaded) {
      await emitTogether(service, workspace, 8);
      await emit(service, workspace);
      events += 9;
      await sleep(200);
    }
  })();
  /** A worker with these keys takes the place of the one before. */
  let worker = await service.startWorker();
  const deploy = async (keys: string) => {
    const next = await service.startWorker({}, { SECRETS_KEYS: keys });
    await worker.stop();
    worker = next;
    const server = await startServer({ ...service.config, ...loadKeys(keys) }, logger);
    onTestFinished(() => server.stop());
    return server.url;
  };
  const second = await deploy(`${OLD},${NEW}`);
  const first = await deploy(`${NEW},${OLD}`);
  // Of the two releases of a deployment that is under way, one still encrypts with the old key.
  const rotations = [
    rotateSecrets(service.db, both, () => undefined),
    rotateSecrets(service.db, both, () => undefined),
  ];
  for (let count = 0; count < 12; count += 1) await subscribe(count % 2 === 0 ? first : second);
  await Promise.all(rotations);
  const { from } = await rotateSecrets(service.db, both, () => undefined);
  expect(from).toEqual([
    { keyId: null, encrypted: 0, left: 0, unreadable: 0 },
    { keyId: 'old', encrypted: expect.any(Number), left: 0, unreadable: 0 },
  ]);
  const third = await deploy(NEW);
  await subscribe(third);
  await sleep(500);
  isLoaded = false;
  await load;

  const receivedAt = (path: string) => receiver.received.filter((request) => request.path === path);
  for (const path of paths) {
    const ids = await eventually(
      async () => new Set(receivedAt(path).map(({ body }) => body.data.articleId)),
      ({ size }) => size === events,
    );
    expect(ids.size).toBe(events);
  }
  for (const { path, raw, headers } of receiver.received) {
    expect(() => verifyWebhook(raw, headers, secrets.get(path) ?? '')).not.toThrow();
  }
  const { count } = await service.db
    .selectFrom('webhook_log')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('status', '!=', 'succeeded')
    .executeTakeFirstOrThrow();
  expect(count).toBe(0);
  const named = await service.db.selectFrom('webhook_endpoints').select('secret_key_id').distinct().execute();
  expect(named).toEqual([{ secret_key_id: 'new' }]);
}, 120_000);

const loadKeys = (keys: string) => ({ SECRETS_KEYS: loadConfig({ SECRETS_KEYS: keys }).SECRETS_KEYS });

it('a rotation goes over more than a batch, goes on where it was cut off, and reports what it cannot read', async () => {
  const service = await serve(`${OLD},${NEW}`);
  const workspace = await service.workspace();
  const ring = createSecretRing(parseSecretKeys([OLD]));
  const ids = await Promise.all(
    Array.from({ length: 1_100 }, () => insertEndpoint(service.db, workspace.id, { events: ['ping'] })),
  );
  for (const id of ids) {
    await service.db
      .updateTable('webhook_endpoints')
      .set({ secret: ring.encrypt(id, `whsec_${id}`) })
      .where('id', '=', id)
      .execute();
  }
  const [damaged, moved] = ids;
  if (damaged === undefined || moved === undefined) throw new Error('nothing stored');
  await service.db
    .updateTable('webhook_endpoints')
    .set({ secret: ring.encrypt(moved, 'whsec_x') })
    .where('id', '=', damaged)
    .execute();

  const cut = new Error('cut off');
  const failing = rotateSecrets(service.db, both, (_, encrypted) => {
    if (encrypted > 0) throw cut;
  });
  await expect(failing).rejects.toBe(cut);
  const progress: number[] = [];
  const rotation = await rotateSecrets(service.db, both, (_, encrypted) => progress.push(encrypted));
  expect(rotation.from.at(-1)).toMatchObject({ keyId: 'old', left: 1, unreadable: 1 });
  expect(Math.max(...progress)).toBeLessThan(1_099);
  const rows = await service.db
    .selectFrom('webhook_endpoints')
    .select(['id', 'secret', 'secret_key_id'])
    .execute();
  const opened = createSecretRing(both);
  for (const { id, secret, secret_key_id } of rows) {
    expect([secret_key_id, opened.decrypt(id, secret)]).toEqual(
      id === damaged ? ['old', null] : ['new', `whsec_${id}`],
    );
  }
}, 60_000);
