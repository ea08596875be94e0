import { describe, expect, it } from 'vitest';
import { BLOCKED_ADDRESS_MESSAGE } from '../../../src/outbound/address-guard.ts';
import { classify, errorMessage } from '../../../src/webhooks/sending/outcome.ts';

describe('classify and errorMessage', () => {
  // contract.md D9
  it.each([
    [200, 'succeeded'],
    [204, 'succeeded'],
    [299, 'succeeded'],
    [301, 'failed'],
    [304, 'failed'],
    [400, 'failed'],
    [404, 'failed'],
    [408, 'failed'],
    [410, 'failed'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
    [599, 'retry'],
    [600, 'failed'],
  ] as const)('takes %i as %s', (status, verdict) => {
    const outcome = {
      kind: 'responded',
      status,
      retryAfter: null,
      bodyText: '',
      durationMs: 1,
      redirects: 0,
    } as const;
    expect(classify(outcome)).toBe(verdict);
    expect(errorMessage(outcome)).toBe(
      verdict === 'succeeded' ? null : `The receiver responded with ${status}.`,
    );
  });

  it('takes no response as a retry', () => {
    const outcome = { kind: 'no-response', error: BLOCKED_ADDRESS_MESSAGE, durationMs: 1 } as const;
    expect(classify(outcome)).toBe('retry');
    expect(errorMessage(outcome)).toBe(BLOCKED_ADDRESS_MESSAGE);
  });
});
