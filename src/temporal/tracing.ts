import { SpanKind } from '@opentelemetry/api';
import type { ClientOptions } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { WorkerInterceptors } from '@temporalio/worker';
import { z } from 'zod';
import { currentTraceparent, traced } from '../tracing/spans.ts';
import { TRACE_HEADER } from './trace-header.ts';

/**
 * Carries a trace from a client to the activities of the runs that it starts. Workflows have no spans: they pass the header
 * on (workflows/trace-headers.ts), so that replaying one traces nothing.
 */

const carried = z.object({ traceparent: z.string() });

function traceparentIn(headers: Headers): string | null {
  const payload = headers[TRACE_HEADER];
  if (payload === undefined) return null;
  const parsed = carried.safeParse(defaultPayloadConverter.fromPayload(payload));
  return parsed.success ? parsed.data.traceparent : null;
}

/** Interceptors of a client: the start of a run within a trace is a span, and the run goes on with that trace. */
export const clientInterceptors = {
  workflow: [
    {
      startWithDetails: (input, next) =>
        currentTraceparent() === null
          ? next(input)
          : traced(`StartWorkflow:${input.workflowType}`, { kind: SpanKind.PRODUCER }, async (span) => {
              span.setAttribute('temporal.workflow_id', input.options.workflowId);
              const traceparent = currentTraceparent();
              const payload = defaultPayloadConverter.toPayload({ traceparent });
              return next({ ...input, headers: { ...input.headers, [TRACE_HEADER]: payload } });
            }),
    },
  ],
} satisfies ClientOptions['interceptors'];

/**
 * Interceptors of a worker whose activities are spans: each execution one, of the trace of its run, or of a trace of its own
 * for runs that schedules start.
 */
export const activityInterceptors: WorkerInterceptors = {
  activity: [
    ({ info }) => ({
      inbound: {
        execute(input, next) {
          const attributes = {
            'temporal.workflow_id': info.workflowExecution?.workflowId ?? '',
            'temporal.attempt': info.attempt,
          };
          const parent = traceparentIn(input.headers);
          return traced(
            `RunActivity:${info.activityType}`,
            { kind: SpanKind.CONSUMER, parent, attributes },
            () => next(input),
          );
        },
      },
    }),
  ],
};
