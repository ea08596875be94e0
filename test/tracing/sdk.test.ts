import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ProviderError } from '../../src/providers/types.ts';
import { startSdk } from '../../src/tracing/sdk.ts';
import { continuing, currentTraceparent, traced } from '../../src/tracing/spans.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts';
import { startReceiver } from '../support/receiver.ts';
import { eventually } from '../support/wait.ts';
import { createCertificate } from '../webhooks/sending/support/certificate.ts';
import { closing, post, setUpSender } from '../webhooks/sending/support/sending.ts';

let collector: Collector;
let stop: () => Promise<void>;
beforeAll(async () => {
  collector = await startCollector();
  const headers = { 'x-collector-key': 'key of the collector' };
  const settings = { endpoint: `${collector.url}/base`, headers, serviceName: 'tested', ratio: 1 };
  stop = startSdk(settings, pino({ level: 'silent' }));
});
afterAll(async () => {
  await stop();
  await collector.close();
});

const spansOf = (name: string, has: number): Promise<ReceivedSpan[]> => {
  const named = (): ReceivedSpan[] => collector.spans.filter((span) => span.name === name);
  return eventually(
    async () => {
      const traces = new Set(named().map(({ traceId }) => traceId));
      return collector.spans.filter(({ traceId }) => traces.has(traceId));
    },
    (spans) => spans.length >= has,
  );
};

it('spans nest, go on from a traceparent, and are sent below the endpoint under the name of the service', async () => {
  const traceparent = await traced('first', { parent: null }, async () => currentTraceparent());
  expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  await continuing(traceparent ?? '', () => traced('second', {}, () => traced('third', {}, async () => 1)));
  const spans = await spansOf('first', 3);
  const [first, second, third] = ['first', 'second', 'third'].map((name) =>
    spans.find((span) => span.name === name),
  );
  expect([first?.parent, second?.parent, third?.parent]).toEqual(['', first?.id, second?.id]);
  expect(spans.map(({ service }) => service)).toEqual(['tested', 'tested', 'tested']);
  expect(new Set(collector.paths)).toEqual(new Set(['/base/v1/traces']));
  expect(collector.bytes().includes('key of the collector')).toBe(true);
});

it('what goes on from a trace that is not kept is not kept either', async () => {
  const dropped = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`;
  const inside = await continuing(dropped, () => traced('dropped', {}, async () => currentTraceparent()));
  expect(inside).toMatch(/^00-1{32}-[0-9a-f]{16}-00$/);
  await traced('kept', { parent: null }, async () => 1);
  await spansOf('kept', 1);
  expect(collector.spans.map(({ name }) => name)).not.toContain('dropped');
});

// contract.md O3
it('of an error a span keeps its code or name and never its message', async () => {
  const fail = (name: string, error: unknown) =>
    traced('failing', { parent: null, attributes: { name } }, () => Promise.reject(error)).catch(
      () => undefined,
    );
  await fail('code', Object.assign(new Error('PLANTED-MESSAGE'), { code: 'ECONNREFUSED' }));
  await fail('kind', new ProviderError('refused', 'PLANTED-MESSAGE'));
  await fail('class', new TypeError('PLANTED-MESSAGE'));
  await fail('prose', Object.assign(new Error('PLANTED-MESSAGE'), { code: 'PLANTED-MESSAGE in a code' }));
  await fail('text', 'PLANTED-MESSAGE');
  const spans = await spansOf('failing', 5);
  expect(
    Object.fromEntries(spans.map(({ attributes }) => [attributes.name, attributes['error.type']])),
  ).toEqual({
    code: 'ECONNREFUSED',
    kind: 'ProviderError.refused',
    class: 'TypeError',
    prose: '_OTHER',
    text: '_OTHER',
  });
  expect(spans.every(({ failed }) => failed)).toBe(true);
  expect(collector.bytes().includes('PLANTED-MESSAGE')).toBe(false);
});

// contract.md O2
it('sending has spans for DNS, connect, TLS and the first byte; a kept connection only for the last', async () => {
  const tls = createCertificate('secure.test');
  const receiver = closing(await startReceiver(undefined, { tls }));
  const { sender } = await setUpSender({ zone: { 'secure.test': [['127.0.0.1']] }, ca: tls.cert });
  const send = (name: string, port = receiver.port) =>
    traced(name, { parent: null }, () =>
      post(sender, `https://secure.test:${port}/secret-path?secret=query`),
    );
  await send('fresh');
  await send('kept alive');
  const gone = await startReceiver();
  await gone.close();
  await send('gone', gone.port);
  const namesOf = async (name: string, has: number) =>
    (await spansOf(name, has)).map((span) => (span.failed ? `${span.name} failed` : span.name)).sort();
  expect(await namesOf('fresh', 5)).toEqual(['connect', 'dns', 'first byte', 'fresh', 'tls']);
  expect(await namesOf('kept alive', 2)).toEqual(['first byte', 'kept alive']);
  expect(await namesOf('gone', 3)).toEqual(['connect failed', 'dns', 'gone']);
  expect(collector.bytes().includes('secret')).toBe(false);
});

// contract.md O5
it('a receiver gets the traceparent of the attempt only where that is on', async () => {
  const receiver = closing(await startReceiver());
  const { sender: silent } = await setUpSender();
  const { sender: telling } = await setUpSender({ sendsTraceparent: true });
  const send = (sender: typeof silent) =>
    traced('told', { parent: null }, async () => {
      await post(sender, `${receiver.origin}/`);
      return currentTraceparent();
    });
  await send(silent);
  const traceparent = await send(telling);
  await post(telling, `${receiver.origin}/`);
  expect(receiver.received.map(({ headers }) => headers.traceparent)).toEqual([
    undefined,
    traceparent,
    undefined,
  ]);
});
