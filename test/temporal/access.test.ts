import { expect, inject, it, onTestFinished } from 'vitest';
import { watchAccess } from '../../src/temporal/access.ts';
import { startProcess } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';
import { openGate, PERMISSION_DENIED, UNAUTHENTICATED } from '../support/temporal-gate.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();

/** The environment of a worker whose Temporal asks for a key. */
async function behindGate(code: number) {
  const gate = await openGate(inject('temporalAddress'), 'the-right-key', code);
  onTestFinished(() => gate.close());
  const env = {
    ...service.env,
    TEMPORAL_ADDRESS: gate.address,
    TEMPORAL_TLS: 'false',
    TEMPORAL_API_KEY: 'the-right-key',
  };
  return { gate, env };
}

it.each([
  ['wrong', UNAUTHENTICATED],
  ['not allowed there', PERMISSION_DENIED],
])(
  'a worker whose API key is %s ends with status 1 and the name of the variable, not the key',
  async (_what, code) => {
    const { env } = await behindGate(code);
    const error = await startProcess('worker.ts', { ...env, TEMPORAL_API_KEY: 'some-other-key' }).then(
      () => null,
      (reason: unknown) => String(reason),
    );
    expect(error).toContain('ended before it was there');
    expect(error).toContain('refuses access to the namespace default. Check TEMPORAL_API_KEY');
    expect(error).not.toContain('some-other-key');
  },
);

it('a worker whose key is withdrawn later is not ready while that lasts', async () => {
  const { gate, env } = await behindGate(PERMISSION_DENIED);
  const worker = await service.startWorker({}, env);
  const ready = () => fetch(worker.metricsUrl.replace('/metrics', '/readyz')).then(({ status }) => status);
  await eventually(ready, (status) => status === 200);
  gate.key = 'another-key';
  await eventually(ready, (status) => status === 503);
  expect(gate.refused()).toBeGreaterThan(0);
});

it('a refusal counts as meant once it has lasted, and no longer than it lasts', async () => {
  let answer: Error | null = Object.assign(new Error('no'), { code: PERMISSION_DENIED });
  const watch = watchAccess(async () => {
    if (answer !== null) throw answer;
  }, 300);
  const check = () => watch.check().catch(() => undefined);
  await check();
  expect(watch.isRefused()).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 350));
  await check();
  expect(watch.isRefused()).toBe(true);
  answer = new Error('away');
  await check();
  expect(watch.isRefused()).toBe(false);
});
