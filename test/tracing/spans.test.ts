import { expect, it } from 'vitest';
import { currentTraceparent, parseTraceparent, startSpan, traced, within } from '../../src/tracing/spans.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

it('reads a traceparent of version 00, and keeps of its flags whether it was sampled', () => {
  const at = { traceId: TRACE, spanId: SPAN, isRemote: true };
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ ...at, traceFlags: 1 });
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...at, traceFlags: 0 });
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-ff`)).toEqual({ ...at, traceFlags: 1 });
});

it.each([
  '',
  `01-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}-1`,
  ` 00-${TRACE}-${SPAN}-01`,
])('takes %j for none', (text) => {
  expect(parseTraceparent(text)).toBeNull();
});

// contract.md O1
it('while tracing is off there is no span, and work is done as without', async () => {
  const span = startSpan('anything', { parent: null });
  expect(span.isRecording()).toBe(false);
  expect(within(span, currentTraceparent)).toBeNull();
  expect(await traced('anything', {}, async () => 1)).toBe(1);
  await expect(traced('anything', {}, () => Promise.reject(new Error('as before')))).rejects.toThrow(
    'as before',
  );
});
