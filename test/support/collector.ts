import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';
import { listenAlone } from './ports.ts';
import { eventually } from './wait.ts';

/** OTLP's messages, as far as tests look at them (opentelemetry-proto, trace.proto and common.proto). */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
  }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }`);
const requests = root.lookupType('Request');

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}
interface Decoded {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly DecodedSpan[] }[];
  }[];
}
interface DecodedSpan {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly parentSpanId?: Buffer;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly links?: readonly { readonly traceId: Buffer; readonly spanId: Buffer }[];
  readonly status?: { readonly code?: number };
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly id: string;
  /** Empty for the first span of a trace. */
  readonly parent: string;
  readonly name: string;
  readonly milliseconds: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Trace ids. */
  readonly links: readonly string[];
  readonly failed: boolean;
  readonly service: string;
}

const valuesOf = (attributes: readonly KeyValue[] = []): ReceivedSpan['attributes'] =>
  Object.fromEntries(
    attributes.map(({ key, value: { intValue, ...value } }) => [
      key,
      intValue === undefined ? (Object.values(value)[0] ?? '') : Number(intValue),
    ]),
  );

function spansIn(bytes: Buffer): ReceivedSpan[] {
  const decoded = requests.toObject(requests.decode(bytes), { longs: String }) as Decoded;
  return (decoded.resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) =>
    scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({
        traceId: span.traceId.toString('hex'),
        id: span.spanId.toString('hex'),
        parent: span.parentSpanId?.toString('hex') ?? '',
        name: span.name,
        milliseconds: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
        attributes: valuesOf(span.attributes),
        links: (span.links ?? []).map(({ traceId }) => traceId.toString('hex')),
        failed: span.status?.code === 2,
        service: String(valuesOf(resource?.attributes)['service.name'] ?? ''),
      })),
    ),
  );
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** Paths of the requests. */
  readonly paths: string[];
  /** Every byte that was received, heads of requests included. */
  bytes(): Buffer;
  /** The spans of the trace that has the span which `isIt` finds, once they are complete. */
  trace(
    isIt: (span: ReceivedSpan) => boolean,
    isComplete: (spans: readonly ReceivedSpan[]) => boolean,
  ): Promise<ReceivedSpan[]>;
  close(): Promise<void>;
}

/** A collector of OTLP over HTTP, in protobuf, on loopback. `respond` may keep it from ending a request. */
export async function startCollector(respond: () => number | null = () => 200): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const paths: string[] = [];
  const received: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    received.push(Buffer.from(JSON.stringify(request.rawHeaders)), body);
    paths.push(request.url ?? '');
    const status = respond();
    if (status === null) return;
    if (status === 200) spans.push(...spansIn(body));
    response.writeHead(status).end();
  });
  const port = await listenAlone(server, '127.0.0.1');
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    paths,
    bytes: () => Buffer.concat(received),
    trace: (isIt, isComplete) =>
      eventually(async () => {
        const first = spans.find(isIt);
        return first === undefined ? [] : spans.filter(({ traceId }) => traceId === first.traceId);
      }, isComplete),
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
