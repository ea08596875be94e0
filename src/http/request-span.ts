import { type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { KeyActor } from '../context.ts';
import { parseTraceparent, startSpan, within } from '../tracing/spans.ts';

/** What a request's span is of. */
export interface Spanned {
  /** By `performance.now()`. */
  readonly startedAt: number;
  actor?: KeyActor;
  /** Once the key is known. */
  span?: Span;
}

/**
 * Runs the rest of a request in a span of its own, the first of its trace (contract.md O2 and O7). It begins once the key is
 * known and within its rate: others cost no more than their refusal. A `traceparent` of the caller becomes a link; it is not
 * continued, so that no caller decides what is kept.
 * @param exchange gets the span, which {@link endRequestSpan} ends
 */
export function inRequestSpan<Result>(
  exchange: Spanned,
  { method, path }: { readonly method: string; readonly path: string },
  headers: Headers,
  work: () => Promise<Result>,
): Promise<Result> {
  const span = startSpan(`${method.toUpperCase()} ${path}`, {
    kind: SpanKind.SERVER,
    parent: null,
    startedAt: exchange.startedAt,
    attributes: {
      'http.request.method': method.toUpperCase(),
      'http.route': path,
      ...(exchange.actor && {
        'workspace.id': exchange.actor.workspaceId,
        'api_key.id': exchange.actor.keyId,
      }),
    },
  });
  exchange.span = span;
  const given = span.isRecording() ? headers.get('traceparent') : null;
  const callers = given === null ? null : parseTraceparent(given);
  if (callers !== null) span.addLink({ context: callers });
  return within(span, work);
}

/** Ends the span of a request with its status. */
export function endRequestSpan(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) {
    span.setAttribute('error.type', String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end(performance.now());
}
