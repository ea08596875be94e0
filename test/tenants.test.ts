import { describe, expect, it } from 'vitest';
import { createTenantFigures } from '../src/tenants.ts';

// contract.md O20 and O21
describe('the figures of workspaces', () => {
  it('are exact up to 512 workspaces, the 20 largest first, and forgotten after five minutes', () => {
    let now = 0;
    const figures = createTenantFigures(() => now);
    for (let index = 0; index < 500; index += 1) figures.count(`w${index}`, 'requests', index + 1);
    now = 60_000;
    figures.count('w7', 'requests', 1_000);
    figures.count('w7', 'tokens', 5);
    figures.count('', 'tokens', 5_000);
    const { seconds, by } = figures.top();
    expect(seconds).toBe(300);
    expect(by.requests.length).toBe(20);
    expect(by.requests.slice(0, 2)).toEqual([
      { workspaceId: 'w7', amount: 1_008, error: 0 },
      { workspaceId: 'w499', amount: 500, error: 0 },
    ]);
    expect(by.tokens).toEqual([{ workspaceId: 'w7', amount: 5, error: 0 }]);
    expect(by.bytes).toEqual([]);
    now = 320_000;
    expect(figures.top().by.requests).toEqual([{ workspaceId: 'w7', amount: 1_000, error: 0 }]);
    now = 400_000;
    expect(figures.top().by.requests).toEqual([]);
  });

  it('stay bounded beside a hundred thousand workspaces, and show who makes most of the load, with the most it may be off', () => {
    const figures = createTenantFigures(() => 0);
    for (let index = 0; index < 100_000; index += 1) {
      figures.count(`small ${index}`, 'workMilliseconds', 1);
      if (index % 20 === 0) figures.count('large', 'workMilliseconds', 10);
    }
    const { workMilliseconds } = figures.top().by;
    const [first] = workMilliseconds;
    expect(first?.workspaceId).toBe('large');
    const { amount = 0, error = 0 } = first ?? {};
    expect(amount).toBeLessThanOrEqual(50_000);
    expect(amount + error).toBeGreaterThanOrEqual(50_000);
    expect(error).toBeLessThanOrEqual(150_000 / 256);
    expect(workMilliseconds.length).toBe(20);
    expect(workMilliseconds[1]?.amount).toBeLessThanOrEqual(1);
  });
});
