/**
 * The first import of a process: starts tracing where the environment asks for it. Without OTEL_EXPORTER_OTLP_ENDPOINT nothing
 * of the SDK is loaded (contract.md O1).
 */
import { type Config, loadConfig } from '../config.ts';
import { createLogger } from '../logger.ts';

async function start(): Promise<() => Promise<void>> {
  const config = readConfig();
  if (config?.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return async () => undefined;
  const { startSdk } = await import('./sdk.ts');
  return startSdk(
    {
      endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
      headers: config.OTEL_EXPORTER_OTLP_HEADERS,
      serviceName: config.OTEL_SERVICE_NAME,
      ratio: config.OTEL_TRACES_SAMPLER_ARG,
    },
    createLogger(config.LOG_LEVEL, 'tracing'),
  );
}

/** Null of an environment that the process will refuse by itself, in words. */
function readConfig(): Config | null {
  try {
    return loadConfig();
  } catch {
    return null;
  }
}

/** Sends the spans that wait, for a few seconds at most: the last step of a process. */
export const stopTracing: () => Promise<void> = await start();
