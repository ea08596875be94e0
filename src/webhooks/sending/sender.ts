import { BLOCKED_ADDRESS_MESSAGE, hostOf, parseReceiverUrl } from '../../outbound/address-guard.ts';
import { type Connection, openConnection } from '../../outbound/connection.ts';
import { createConnectionPool } from '../../outbound/connection-pool.ts';
import { type Deadline, startDeadline } from '../../outbound/deadline.ts';
import { dial, isAllowed } from '../../outbound/dial.ts';
import { EndedWithoutResponse, NothingWritten, SendFailure } from '../../outbound/failure.ts';
import type { AddressGuard } from '../../outbound/resolver.ts';
import type { HttpResponse } from '../../outbound/response.ts';
import { currentTraceparent } from '../../tracing/spans.ts';
import type { RefusedRedirect, Responded, SendOutcome, Stopped } from './outcome.ts';

export interface SendRequest {
  url: string;
  body: Uint8Array;
  /** Aborts the attempt: `send` rejects with its reason, unless a status line was already read. */
  signal?: AbortSignal | undefined;
  /**
   * Awaited after DNS and connect, right before each write: the first, every redirect's, and on pooled sockets too. On
   * stop nothing is written. Its time is not counted. When replacing a lost connection took long, it is called again
   * with the same `hop`, and must mean the same then.
   */
  beforeWrite: (write: Write) => Promise<WriteDecision>;
}

export interface Write {
  /** Where the request goes. */
  readonly url: URL;
  /** 0 for the first URL, then the number of redirects followed. */
  readonly hop: number;
}

export type WriteDecision =
  | { proceed: true; headers: Record<string, string> }
  | { proceed: false; reason: string };

export interface WebhookSenderOptions {
  guard: AddressGuard;
  /** Milliseconds for one attempt: DNS, connect, redirects and body (contract.md D7). */
  timeoutMs?: number;
  /** Certificate authorities in PEM, instead of those Node trusts. */
  ca?: string;
  /** Whether receivers get the `traceparent` of the attempt (contract.md O5). */
  sendsTraceparent?: boolean;
}

export interface WebhookSender {
  /**
   * Makes one attempt. Every fault of the receiver or the network is an outcome; `send` rejects only with an error of
   * `beforeWrite` or the reason of the caller's signal.
   */
  send(request: SendRequest): Promise<SendOutcome>;
  /** Closes the idle connections; attempts in flight end as usual. */
  close(): Promise<void>;
}

const MAX_REDIRECTS = 3;
/** Bytes read of one response; then its socket is closed. */
const MAX_BODY_BYTES = 64 * 1_024;
const USER_AGENT = 'workspace-content-service';

/** A decision to write older than this is renewed: the endpoint may have gone during another dial. */
export const DECISION_MS = 1_000;
/** A reused connection that ends this soon after its last response was hardly closed for being idle. */
const MIN_IDLE_TO_REPEAT_MS = 1_000;
/** Connections tried for one write. When all are lost, the receiver is the cause. */
const MAX_CONNECTIONS = 3;

/** Null where the address is blocked. */
type HopResult = HttpResponse | Stopped | null;

/** State of one call of `send`. */
interface Attempt {
  readonly request: SendRequest;
  readonly deadline: Deadline;
  /** Whether a request was repeated because a reused connection ended under it. */
  repeated: boolean;
  /** Whether a request was written by https. */
  secured: boolean;
  /** Whether one was written by http after that. */
  downgraded: boolean;
}

const UNRESOLVED_MESSAGES = {
  'not found': 'The host name of the URL does not exist.',
  'timed out': 'The host name of the URL could not be resolved in time.',
  failed: 'The host name of the URL could not be resolved.',
} as const;

/** Creates the sender of signed POSTs (design.md §8). One serves a whole process. */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { guard, ca, timeoutMs = 15_000, sendsTraceparent = false } = options;
  const pool = createConnectionPool();

  async function open(url: URL, deadline: Deadline): Promise<Connection | null> {
    const resolution = await deadline.race(guard.resolve(hostOf(url)));
    if (resolution.kind === 'blocked') return null;
    if (resolution.kind === 'unresolved') throw new SendFailure(UNRESOLVED_MESSAGES[resolution.reason]);
    const { signal } = deadline;
    const socket = await dial(url, resolution.addresses, {
      guard,
      signal,
      ...(ca === undefined ? {} : { ca }),
    });
    return openConnection(socket);
  }

  /** A pooled socket is judged again on every delivery (contract.md D12). */
  function takePooled(origin: string): Connection | null {
    const connection = pool.take(origin);
    if (connection === null || isAllowed(connection.socket, guard)) return connection;
    connection.close();
    return null;
  }

  /**
   * Calls `beforeWrite` and posts. Lost connections are replaced within the attempt: before the write any, because
   * receivers close idle ones while our database is away, and after it one that had been idle, whose end crossed the
   * request.
   */
  async function sendHop(url: URL, hop: number, attempt: Attempt): Promise<HopResult> {
    const { request, deadline } = attempt;
    const limits = { maxBodyBytes: MAX_BODY_BYTES, deadline };
    let decided: { headers: Record<string, string>; at: number } | null = null;
    let connection = takePooled(url.origin);
    for (let connections = 1; ; connections += 1) {
      connection ??= await open(url, deadline);
      if (connection === null) return null;
      try {
        if (decided === null || performance.now() - decided.at > DECISION_MS) {
          const decision = await deadline.raceUncounted(request.beforeWrite({ url, hop }));
          if (!decision.proceed) {
            connection.close();
            return { kind: 'stopped', reason: decision.reason };
          }
          attempt.secured ||= url.protocol === 'https:';
          attempt.downgraded ||= attempt.secured && url.protocol === 'http:';
          const traceparent = sendsTraceparent ? currentTraceparent() : null;
          const own = { 'user-agent': USER_AGENT, ...(traceparent === null ? {} : { traceparent }) };
          decided = { headers: { ...own, ...decision.headers }, at: performance.now() };
        }
        const response = await connection.post({ url, headers: decided.headers, body: request.body }, limits);
        if (response.reusableMs > 0) pool.give(url.origin, connection, response.reusableMs);
        return response;
      } catch (error) {
        connection.close();
        const isRepeat = error instanceof EndedWithoutResponse && connection.idledMs >= MIN_IDLE_TO_REPEAT_MS;
        if (!isRepeat && !(error instanceof NothingWritten && connections < MAX_CONNECTIONS)) throw error;
        attempt.repeated ||= isRepeat;
        connection = null;
      }
    }
  }

  return {
    async send(request) {
      const startedAt = performance.now();
      const deadline = startDeadline(timeoutMs, request.signal);
      const attempt: Attempt = { request, deadline, repeated: false, secured: false, downgraded: false };
      const measured = () => ({
        durationMs: Math.round(performance.now() - startedAt),
        ...(attempt.repeated ? { repeated: true as const } : {}),
        ...(attempt.downgraded ? { downgraded: true as const } : {}),
      });
      try {
        const result = await followRedirects(request.url, (url, hop) => sendHop(url, hop, attempt));
        return result.kind === 'stopped' ? result : { ...result, ...measured() };
      } catch (error) {
        if (!(error instanceof SendFailure)) throw error;
        return { kind: 'no-response', error: error.message, ...measured() };
      } finally {
        deadline.clear();
      }
    },
    async close() {
      pool.close();
    },
  };
}

type Followed = Omit<Responded, 'durationMs'> | Stopped;

/**
 * Follows every 3xx with a Location, up to three hops, keeping method and body (contract.md D11). A redirect that is
 * not followed is itself the response. http and https may lead to each other; the outcome says that https led to http.
 * @throws SendFailure when the first URL is refused, or from `sendHop`.
 */
async function followRedirects(
  text: string,
  sendHop: (url: URL, hop: number) => Promise<HopResult>,
): Promise<Followed> {
  const first = parseReceiverUrl(text);
  if (!first.ok) throw new SendFailure(first.reason);
  let url = first.url;
  let redirect: HttpResponse | null = null;
  for (let redirects = 0; ; redirects += 1) {
    const response = await sendHop(url, redirects);
    if (response === null) {
      if (redirect === null) throw new SendFailure(BLOCKED_ADDRESS_MESSAGE);
      return responded(redirect, redirects - 1, 'blocked');
    }
    if ('kind' in response) return response;
    if (response.status < 300 || response.status > 399) return responded(response, redirects);
    if (response.location === null) return responded(response, redirects, 'no location');
    if (redirects === MAX_REDIRECTS) return responded(response, redirects, 'too many');
    const next = URL.parse(response.location, url.href);
    const verdict = next === null ? null : parseReceiverUrl(next.href);
    if (verdict === null || !verdict.ok) return responded(response, redirects, 'bad url');
    redirect = response;
    url = verdict.url;
  }
}

function responded(response: HttpResponse, redirects: number, refusedRedirect?: RefusedRedirect): Followed {
  const { status, retryAfter, bodyText } = response;
  const refusal = refusedRedirect === undefined ? {} : { refusedRedirect };
  return { kind: 'responded', status, retryAfter, bodyText, redirects, ...refusal };
}
