import { Counter, type Registry } from 'prom-client';
import type { MetricsSource } from './serve.ts';

const DEADLINE_MS = 2_000;

/**
 * The present series of Temporal's SDK.
 * @throws when they cannot be read
 */
export async function readSdkMetrics(address: string): Promise<string> {
  const response = await fetch(address, { signal: AbortSignal.timeout(DEADLINE_MS) });
  if (!response.ok) throw new Error(`responded with ${response.status}`);
  return response.text();
}

/**
 * The series of Temporal's SDK, which serves them on its own loopback port.
 * @param url their present address; undefined while the SDK does not run
 * @param registry of `worker_sdk_metrics_errors_total`
 */
export function createTemporalMetrics(url: () => string | undefined, registry: Registry): MetricsSource {
  const errors = new Counter({
    name: 'worker_sdk_metrics_errors_total',
    help: "Failed reads of the metrics of Temporal's SDK.",
    registers: [registry],
  });
  return async () => {
    const address = url();
    if (address === undefined) return '';
    try {
      return await readSdkMetrics(address);
    } catch {
      errors.inc();
      return '';
    }
  };
}
