import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

export interface TracingSettings {
  /** Base URL of the collector; `v1/traces` comes after it. */
  readonly endpoint: string;
  /** Sent to the collector, which may want a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** The part of the traces that are kept, 0 to 1. */
  readonly ratio: number;
}

/** Spans that wait for the collector; more are dropped. */
const MAX_WAITING = 4_096;
const MAX_BATCH = 512;
const EVERY_MS = 2_000;
/** For one batch, with its retries. */
const EXPORT_TIMEOUT_MS = 10_000;
/** For what waits when the process ends. */
const FLUSH_MS = 3_000;
const SUCCESS = 0;
const WARN_EVERY_MS = 60_000;
/** No attribute is longer than an id or a template; this is the last bound. */
const MAX_VALUE_LENGTH = 256;

/**
 * Starts OpenTelemetry's SDK in this process (contract.md O1, O4 and O6). Spans are sent in the background, in batches: what
 * a collector does not take in time is dropped, and nothing waits for it.
 * @returns sends what is left, for three seconds at most
 */
export function startSdk(settings: TracingSettings, logger: Logger): () => Promise<void> {
  const { endpoint, headers, serviceName, ratio } = settings;
  const exporter = new OTLPTraceExporter({
    url: new URL('v1/traces', endpoint.endsWith('/') ? endpoint : `${endpoint}/`).href,
    headers,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': serviceName, 'service.instance.id': randomUUID() }),
    ),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanLimits: {
      attributeValueLengthLimit: MAX_VALUE_LENGTH,
      attributeCountLimit: 32,
      eventCountLimit: 16,
      linkCountLimit: 4,
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: noting(exporter, logger),
        maxQueueSize: MAX_WAITING,
        maxExportBatchSize: MAX_BATCH,
        scheduledDelayMillis: EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return () => Promise.race([provider.shutdown().catch(() => undefined), sleep(FLUSH_MS)]);
}

/** Warns of batches that were not taken, at most once a minute. */
function noting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== SUCCESS && performance.now() - warnedAt > WARN_EVERY_MS) {
          warnedAt = performance.now();
          logger.warn({ err: result.error, spans: spans.length }, 'traces not taken by the collector');
        }
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}
