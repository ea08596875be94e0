import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newSecretKey, parseSecretKeys } from '../../../src/secret-keys.ts';
import { type Credentials, fromText, toText } from '../../../src/webhooks/secrets/credentials.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { rotateSecrets } from '../../../src/webhooks/secrets/rotate.ts';
import { emit } from '../../support/events.ts';
import { hastenRetries } from '../../support/hasten.ts';
import type { Received } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { connectOperator, type Operator } from '../../support/temporal.ts';
import {
  accepts,
  verifyServiceSignature as byService,
  verifyStandardSignature as byStandard,
} from '../../support/verifiers.ts';
import { eventually } from '../../support/wait.ts';
import { type Subscriber, subscribe, untilAll, untilReceived } from '../relay/support.ts';

const [OLD, NEW] = [newSecretKey('old'), newSecretKey('new')];
const keys = parseSecretKeys([NEW, OLD]);

let service: TestService;
let operator: Operator;
let subscriber: Subscriber;

beforeAll(async () => {
  service = await startTestService({ SECRETS_KEYS: [OLD, NEW].join(',') });
  operator = await connectOperator();
  await service.startWorker();
});
afterAll(async () => {
  await operator.close();
  await service.stop();
});
beforeEach(async () => {
  subscriber = await subscribe(service);
  return () => subscriber.receiver.close();
});

const call = (method: string, more: string, body?: unknown) => {
  const { workspace, endpoint } = subscriber;
  return service.call(
    workspace.key,
    method,
    `/api/workspaces/${workspace.id}/webhooks/${endpoint.id}${more}`,
    body,
  );
};
const listed = async () => {
  const { workspace } = subscriber;
  const { body } = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/webhooks`);
  return body.endpoints[0];
};
const stored = () =>
  service.db
    .selectFrom('webhook_endpoints')
    .select(['secret', 'secret_key_id'])
    .where('id', '=', subscriber.endpoint.id)
    .executeTakeFirstOrThrow();

async function rotate(overlapHours?: number): Promise<string> {
  const { status, body } = await call(
    'POST',
    '/rotate-secret',
    overlapHours === undefined ? {} : { overlapHours },
  );
  expect(status).toBe(201);
  expect(body).toEqual({ secret: expect.stringMatching(/^whsec_/), activeAt: expect.any(String) });
  return body.secret;
}

/** Sends one more event and returns its request. */
async function next(): Promise<Received> {
  const { receiver, workspace } = subscriber;
  const before = receiver.received.length;
  await emit(service, workspace);
  await untilReceived(receiver, before + 1);
  const request = receiver.received.at(-1);
  if (request === undefined) throw new Error('nothing was received');
  return request;
}

/** Which of the secrets a receiver may have to accept a request, by both kinds of headers. */
const accepted = (request: Received, secrets: Readonly<Record<string, string>>) => {
  const by = (check: typeof byService) =>
    Object.keys(secrets).filter((name) => accepts(check, request, secrets[name] ?? ''));
  return { service: by(byService), standard: by(byStandard) };
};

// contract.md W61
it('verifies before, during and after a rotation that is activated: by the old secret, by both, by the new one', async () => {
  const old = subscriber.endpoint.secret;
  expect(accepted(await next(), { old })).toEqual({ service: ['old'], standard: ['old'] });

  const secrets = { old, new: await rotate() };
  const during = await next();
  expect(accepted(during, secrets)).toEqual({ service: ['old'], standard: ['old', 'new'] });
  expect(during.headers['x-service-signature']?.match(/v1=/g)).toHaveLength(1);
  const endsIn = Date.parse((await listed()).rotationEndsAt) - Date.now();
  expect(endsIn).toBeGreaterThan(23.9 * 3_600_000);
  expect(endsIn).toBeLessThan(24.1 * 3_600_000);

  expect((await call('POST', '/activate-secret')).body).toEqual({ ok: true });
  expect(accepted(await next(), secrets)).toEqual({ service: ['new'], standard: ['new'] });
  expect((await listed()).rotationEndsAt).toBeNull();
});

/** Changes what is stored as time does. */
async function change(to: (credentials: Credentials) => Credentials): Promise<void> {
  const ring = createSecretRing(keys);
  const { id } = subscriber.endpoint;
  const credentials = to(fromText(ring.decrypt(id, (await stored()).secret) ?? ''));
  await service.db
    .updateTable('webhook_endpoints')
    .set({
      secret: ring.encrypt(id, toText(credentials)),
      rotation_ends_at: credentials.next?.activeAt ?? null,
    })
    .where('id', '=', id)
    .execute();
}

// contract.md W61
it('ends the overlap by itself, after which the secret can be rotated again', async () => {
  const secrets: Record<string, string> = { old: subscriber.endpoint.secret, new: await rotate(168) };
  expect(accepted(await next(), secrets).service).toEqual(['old']);
  const activeAt = new Date(Date.now() - 1_000);
  await change(({ next: open, ...rest }) => ({ ...rest, next: open && { ...open, activeAt } }));
  expect(accepted(await next(), secrets)).toEqual({ service: ['new'], standard: ['new'] });
  expect((await listed()).rotationEndsAt).toBeNull();
  expect((await call('POST', '/activate-secret')).body.details.reason).toBe('no_rotation');

  secrets.third = await rotate(1);
  expect(accepted(await next(), secrets)).toEqual({ service: ['new'], standard: ['new', 'third'] });
});

// contract.md W62
it('without an overlap the old secret signs nothing more, and deliveries that wait are signed with the new one', async () => {
  const { receiver, workspace, endpoint } = subscriber;
  receiver.answer = () => 503;
  await emit(service, workspace);
  await untilReceived(receiver, 1);
  const secrets = { old: endpoint.secret, new: await rotate(0) };
  receiver.answer = () => 204;
  await untilAll(service, workspace, ({ attempts }) => attempts === 1);
  await eventually(
    async () => {
      await hastenRetries(service.db, operator);
      return receiver.received.length;
    },
    (length) => length === 2,
  );
  await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  const [first, second] = receiver.received.map((request) => accepted(request, secrets));
  expect(first).toEqual({ service: ['old'], standard: ['old'] });
  expect(second).toEqual({ service: ['new'], standard: ['new'] });
  expect((await listed()).rotationEndsAt).toBeNull();
  expect(fromText(createSecretRing(keys).decrypt(endpoint.id, (await stored()).secret) ?? '')).toEqual({
    secret: secrets.new,
    next: null,
    headers: {},
  });
});

// contract.md W61
it('is open once, however many rotate at the same time; the others are 409', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => call('POST', '/rotate-secret', {})));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body.details).toEqual({ reason: 'rotation_open' });
  const secret = answers.find(({ status }) => status === 201)?.body.secret;
  expect(accepted(await next(), { secret }).standard).toEqual(['secret']);
  for (const overlapHours of [-1, 169, 1.5, '24']) {
    expect((await call('POST', '/rotate-secret', { overlapHours })).body.errors[0].pointer).toBe(
      '/overlapHours',
    );
  }
});

// contract.md W22 and W23
it('a change of the key at rest covers both secrets, and a deletion wipes both', async () => {
  const secrets = { old: subscriber.endpoint.secret, new: await rotate() };
  const before = await stored();
  expect(before.secret_key_id).toBe('old');
  expect(before.secret).not.toContain('whsec_');
  await rotateSecrets(service.db, keys, () => undefined);
  expect((await stored()).secret_key_id).toBe('new');
  expect(accepted(await next(), secrets)).toEqual({ service: ['old'], standard: ['old', 'new'] });

  const audit = await service.db.selectFrom('audit_entries').select(['action', 'details']).execute();
  expect(audit.map(({ action }) => action)).toContain('webhooks.secret_rotated');
  for (const secret of Object.values(secrets)) expect(JSON.stringify(audit)).not.toContain(secret);
  expect(JSON.stringify(await listed())).not.toContain('whsec_');

  await call('DELETE', '');
  expect(await stored()).toEqual({ secret: '', secret_key_id: null });
  expect((await call('POST', '/rotate-secret', {})).status).toBe(404);
  expect((await call('POST', '/activate-secret')).status).toBe(404);
});
