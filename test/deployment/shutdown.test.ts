import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { askedTexts, chatRequest } from '../support/chat-completions.ts';
import { silence } from '../support/engine-server.ts';
import { rowsOf } from '../support/events.ts';
import { generating } from '../support/generating.ts';
import { startCarelessModel } from '../support/model/careless-model.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { startProcess } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();

const addressOf = (server: ServiceProcess): URL =>
  new URL(/listening on (http:\/\/[\w.:]+)/.exec(server.log())?.[1] ?? '');

/** Sends the head of a request, which the server has taken then, and returns what is needed to send the rest and to read the answer. */
async function beginRequest(url: URL, key: string, path: string, body: string) {
  const socket = connect(Number(url.port), url.hostname);
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.once('connect', resolve));
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: test',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Expect: 100-continue',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  await eventually(
    async () => answer,
    (text) => text === CONTINUE,
  );
  return {
    async finish() {
      socket.write(body);
      await ended;
      return answer.slice(CONTINUE.length);
    },
  };
}

it('a server that is told to stop answers the request in flight, takes no other, and writes what it remembers', async () => {
  const workspace = await service.workspace();
  const server = await startProcess('server.ts', { ...service.env, PORT: '0' });
  const url = addressOf(server);
  const body = JSON.stringify({
    primaryLanguage: 'en',
    translations: [{ language: 'en', name: randomUUID() }],
  });
  const path = `/api/workspaces/${workspace.id}/categories`;
  const request = await beginRequest(url, workspace.key, path, body);
  server.kill('SIGTERM');
  await eventually(
    async () => server.log(),
    (log) => log.includes('"msg":"stopping"'),
  );
  await eventually(
    () =>
      fetch(url).then(
        () => 'open',
        () => 'shut',
      ),
    (door) => door === 'shut',
  );
  expect(await request.finish()).toMatch(/^HTTP\/1\.1 201 /);
  expect(await server.ended).toBe(0);
  const key = await service.db
    .selectFrom('api_keys')
    .select('last_used_at')
    .where('id', '=', workspace.keyId)
    .executeTakeFirstOrThrow();
  expect(key.last_used_at).not.toBeNull();
});

it('a worker that is told to stop finishes the attempt in flight and records it', async () => {
  const workspace = await service.workspace();
  const projectId = await service.project(workspace);
  const receiver = await startReceiver();
  const ends = Promise.withResolvers<number>();
  receiver.answer = () => ends.promise;
  const worker = await startProcess('worker.ts', service.env);
  await service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/webhooks`, {
    url: receiver.url,
    events: ['article.created'],
  });
  await service.call(workspace.key, 'POST', `/api/projects/${projectId}/articles`, { title: 'Stop' });
  await eventually(
    async () => receiver.received.length,
    (count) => count === 1,
  );
  worker.kill('SIGTERM');
  await eventually(
    async () => worker.log(),
    (log) => log.includes('"msg":"stopping"'),
  );
  ends.resolve(204);
  expect(await worker.ended).toBe(0);
  const deliveries = await rowsOf(service, workspace);
  expect(deliveries).toMatchObject([{ status: 'succeeded', attempts: 1, response_status: 204 }]);
  await receiver.close();
});

// contract.md G81
it('a worker that is told to stop lets a part of an article end, and a translation no longer than a webhook attempt', {
  timeout: 120_000,
}, async () => {
  const calls = generating(service);
  const workspace = await service.workspace(20);
  const model = await startCarelessModel();
  const { answer } = model;
  const asked = { text: false, translation: false };
  let stoppedAt = Number.POSITIVE_INFINITY;
  let hungUpAfter = 0;
  model.answer = async (request) => {
    if (Object.keys(askedTexts(request)).length > 0) {
      asked.translation = true;
      return (response) => {
        response.on('close', () => {
          hungUpAfter = Date.now() - stoppedAt;
        });
        silence();
      };
    }
    if (chatRequest(request).response_format === undefined) {
      asked.text = true;
      // Longer than a translation may take.
      while (Date.now() < stoppedAt + 32_000) await sleep(100);
    }
    return answer(request);
  };
  const worker = await startProcess('worker.ts', {
    ...service.env,
    TRANSLATION_PROVIDER: 'openai-compatible',
    GENERATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: model.url,
    AI_MODEL: 'stand-in',
  });
  const { job } = await calls.generate(workspace);
  await calls.translate(workspace, 100);
  await eventually(
    async () => asked.text && asked.translation,
    (both) => both,
  );
  stoppedAt = Date.now();
  worker.kill('SIGTERM');
  expect(await worker.ended).toBe(0);
  expect(Date.now() - stoppedAt).toBeLessThan(60_000);
  expect(hungUpAfter).toBeGreaterThan(24_000);
  expect(hungUpAfter).toBeLessThan(31_000);
  const written = await service.db
    .selectFrom('generation_parts')
    .select(['calls', 'content'])
    .where('job_id', '=', job.id as JobId)
    .where('kind', '=', 'section')
    .orderBy('part')
    .executeTakeFirstOrThrow();
  expect(written).toMatchObject({
    calls: 1,
    content: expect.objectContaining({ words: expect.any(Number) }),
  });
  await model.close();
});
