import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { errorCode } from '../error-text.ts';

/**
 * Spans by OpenTelemetry's API alone, which does nothing until src/tracing/sdk.ts is loaded. Names and attributes hold ids,
 * templates, counts and names that the operator has configured: no text, key or address of a customer (contract.md O3).
 */

const TRACER = 'workspace-content-service';
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
/** Codes and names of errors; anything longer or with other characters could be text. */
const ERROR_TYPE = /^\w[\w.]{0,63}$/;
const OTHER_ERROR = '_OTHER';

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** A `traceparent` to go on from; null for a trace of its own. The active span by default. */
  readonly parent?: string | null;
  /** By `performance.now()`; now by default. */
  readonly startedAt?: number;
}

/** The span context that a `traceparent` of W3C Trace Context, version 00, names; null when it is none. */
export function parseTraceparent(text: string): SpanContext | null {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(text) ?? [];
  const parsed = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(parsed) ? parsed : null;
}

/** The `traceparent` of the active span; null when there is none, as with tracing off. */
export function currentTraceparent(): string | null {
  const active = trace.getSpanContext(context.active());
  if (active === undefined || !isSpanContextValid(active)) return null;
  return `00-${active.traceId}-${active.spanId}-0${active.traceFlags & 1}`;
}

function contextOf(parent: string | null | undefined): Context {
  if (parent === undefined) return context.active();
  const remote = parent === null ? null : parseTraceparent(parent);
  return remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
}

/** Begins a span. The caller ends it, and makes it the active one where it wants to: see {@link within}. */
export function startSpan(
  name: string,
  { kind = SpanKind.INTERNAL, attributes, parent, startedAt }: SpanOptions = {},
): Span {
  const options = {
    kind,
    ...(attributes === undefined ? {} : { attributes }),
    ...(startedAt === undefined ? {} : { startTime: startedAt }),
  };
  return trace.getTracer(TRACER).startSpan(name, options, contextOf(parent));
}

/** Runs work with a span as the active one; with tracing off it is that of no trace. */
export const within = <Result>(span: Span, work: () => Result): Result =>
  isSpanContextValid(span.spanContext()) ? context.with(trace.setSpan(context.active(), span), work) : work();

/** Runs work as the work of what a `traceparent` names: spans in it are children of that. */
export const continuing = <Result>(traceparent: string, work: () => Result): Result =>
  context.with(contextOf(traceparent), work);

/** The name of an error, with the kind of one that has kinds. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'kind' in error && typeof error.kind === 'string' ? `${error.name}.${error.kind}` : error.name;
}

/** Marks a span as failed. Of the error it keeps the code or name, never the message, which may quote a text. */
export function markFailed(span: Span, error: unknown): void {
  const type = errorCode(error) ?? nameOf(error);
  span.setAttribute('error.type', ERROR_TYPE.test(type) ? type : OTHER_ERROR);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Runs work in a span of its own, which ends with it. */
export async function traced<Result>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  const span = startSpan(name, options);
  try {
    return await within(span, () => work(span));
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Ends a phase, with the error that it failed by; a second call has no effect. */
export type EndPhase = (error?: unknown) => void;

/** Begins spans that callbacks end: phases of the span that is active now. */
export function phases(): (name: string) => EndPhase {
  const parent = context.active();
  return (name) => {
    const span = context.with(parent, () => startSpan(name, { kind: SpanKind.CLIENT }));
    let isOver = false;
    return (error) => {
      if (isOver) return;
      isOver = true;
      if (error !== undefined) markFailed(span, error);
      span.end();
    };
  };
}
