import { BLOCKED_ADDRESS_MESSAGE, hostOf, parseReceiverUrl } from '../../outbound/address-guard.ts';
import { type Deadline, startDeadline } from '../../outbound/deadline.ts';
import { dial, isAllowed } from '../../outbound/dial.ts';
import { NothingWritten, SendFailure } from '../../outbound/failure.ts';
import type { AddressGuard } from '../../outbound/resolver.ts';
import { type Connection, type HttpAnswer, openConnection } from './connection.ts';
import { createConnectionPool } from './connection-pool.ts';
import type { RefusedRedirect, Responded, SendOutcome, Stopped } from './outcome.ts';

export interface SendRequest {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Gives the attempt up: `send` then rejects with its reason, unless a status line was already read. */
  signal?: AbortSignal;
  /**
   * Awaited after DNS and connect, right before each write: the first, every redirect's, and on pooled sockets
   * too. Its headers replace those of the request; on stop nothing is written. Its time is not counted.
   */
  beforeWrite: () => Promise<WriteDecision>;
}

export type WriteDecision =
  | { proceed: true; headers: Record<string, string> }
  | { proceed: false; reason: string };

export interface WebhookSenderOptions {
  guard: AddressGuard;
  /** Milliseconds for one attempt: DNS, connect, redirects and body (contract.md D7). */
  timeoutMs?: number;
  /** Bytes of one answer's body that are read at most; then its socket is closed. */
  maxResponseBytes?: number;
  userAgent?: string;
  /** Certificate authorities in PEM, instead of those Node trusts. */
  ca?: string;
}

export interface WebhookSender {
  /**
   * Makes one attempt. Every fault of the receiver or of the network is an outcome; `send` rejects only with an
   * error of `beforeWrite` or with the reason of the caller's signal.
   */
  send(request: SendRequest): Promise<SendOutcome>;
  /** Closes the idle connections; attempts in flight end as usual. */
  close(): Promise<void>;
}

const MAX_REDIRECTS = 3;

type HopResult = { kind: 'answered'; answer: HttpAnswer } | { kind: 'blocked' } | Stopped;

const UNRESOLVED_MESSAGES = {
  'not found': 'The host name of the URL does not exist.',
  'timed out': 'The host name of the URL could not be resolved in time.',
  failed: 'The host name of the URL could not be resolved.',
} as const;

/** Creates the sender of signed POSTs (design.md §8). One serves a whole process. */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { guard, ca, timeoutMs = 15_000, maxResponseBytes = 64 * 1_024 } = options;
  const userAgent = options.userAgent ?? 'workspace-content-service';
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
    return openConnection(url.origin, socket);
  }

  /** A pooled socket is judged again on every delivery (contract.md D12). */
  function takePooled(origin: string): Connection | null {
    const connection = pool.take(origin);
    if (connection === null || isAllowed(connection.socket, guard)) return connection;
    connection.close();
    return null;
  }

  /** Posts once on a connection nobody else uses. */
  async function postOn(
    connection: Connection,
    url: URL,
    request: SendRequest,
    deadline: Deadline,
  ): Promise<HopResult> {
    let reusable = false;
    try {
      const decision = await deadline.raceUncounted(request.beforeWrite());
      if (!decision.proceed) return { kind: 'stopped', reason: decision.reason };
      const headers = mergeHeaders({ 'user-agent': userAgent }, request.headers, decision.headers);
      const limits = { maxBytes: maxResponseBytes, signal: deadline.signal };
      const answer = await connection.post({ url, headers, body: request.body }, limits);
      reusable = answer.complete;
      return { kind: 'answered', answer };
    } finally {
      if (reusable) pool.give(url.origin, connection);
      else connection.close();
    }
  }

  /** A pooled connection that was lost before anything was written is replaced by a new one. */
  async function sendHop(url: URL, request: SendRequest, deadline: Deadline): Promise<HopResult> {
    const pooled = takePooled(url.origin);
    if (pooled !== null) {
      try {
        return await postOn(pooled, url, request, deadline);
      } catch (error) {
        if (!(error instanceof NothingWritten)) throw error;
      }
    }
    const connection = await open(url, deadline);
    return connection === null ? { kind: 'blocked' } : postOn(connection, url, request, deadline);
  }

  return {
    async send(request) {
      const startedAt = performance.now();
      const deadline = startDeadline(timeoutMs, request.signal);
      const elapsed = (): number => Math.round(performance.now() - startedAt);
      try {
        const result = await followRedirects(request.url, (url) => sendHop(url, request, deadline));
        return result.kind === 'stopped' ? result : { ...result, durationMs: elapsed() };
      } catch (error) {
        if (!(error instanceof SendFailure)) throw error;
        return { kind: 'no-response', error: error.message, durationMs: elapsed() };
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
 * Follows every 3xx with a Location, three hops at most; method and body stay (contract.md D11). A redirect that is not followed is itself the answer. http and https may lead to each other.
 * @throws SendFailure when the first URL is refused, or from `sendHop`.
 */
async function followRedirects(text: string, sendHop: (url: URL) => Promise<HopResult>): Promise<Followed> {
  const first = parseReceiverUrl(text);
  if (!first.ok) throw new SendFailure(first.reason);
  let url = first.url;
  let redirectAnswer: HttpAnswer | null = null;
  for (let redirects = 0; ; redirects += 1) {
    const result = await sendHop(url);
    if (result.kind === 'stopped') return result;
    if (result.kind === 'blocked') {
      if (redirectAnswer === null) throw new SendFailure(BLOCKED_ADDRESS_MESSAGE);
      return responded(redirectAnswer, redirects - 1, 'blocked');
    }
    const { answer } = result;
    if (answer.status < 300 || answer.status > 399) return responded(answer, redirects);
    if (answer.location === null) return responded(answer, redirects, 'no location');
    if (redirects === MAX_REDIRECTS) return responded(answer, redirects, 'too many');
    const next = URL.parse(answer.location, url.href);
    const verdict = next === null ? null : parseReceiverUrl(next.href);
    if (verdict === null || !verdict.ok) return responded(answer, redirects, 'bad url');
    redirectAnswer = answer;
    url = verdict.url;
  }
}

function responded(answer: HttpAnswer, redirects: number, refusedRedirect?: RefusedRedirect): Followed {
  const { status, bodyText } = answer;
  const refusal = refusedRedirect === undefined ? {} : { refusedRedirect };
  return { kind: 'responded', status, bodyText, redirects, ...refusal };
}

/** Later headers replace earlier ones of the same name in any case. */
function mergeHeaders(...lists: Record<string, string>[]): Record<string, string> {
  const entries = lists.flatMap((list) => Object.entries(list));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}
