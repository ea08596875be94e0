import { OPERATIONS, type Operations, type Problem, type WebhookEvents } from './api.ts';

/** A response other than 2xx. Look at `problem.code`; quote `problem.requestId` when you report it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
    this.problem = problem;
  }
}

export interface ClientOptions {
  /** Where the service is: `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  /** The raw key, `wcsk_…`. */
  readonly apiKey: string;
}

/** What any call may be given; `Operations` says which of it each call takes. */
interface Input {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

export type Call = <Name extends keyof Operations>(
  name: Name,
  input: Operations[Name]['input'],
) => Promise<Operations[Name]['output']>;

/** The present values of a record as text. */
const present = (record: Readonly<Record<string, string | number | undefined>> = {}): [string, string][] =>
  Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));

/**
 * Calls the service, typed by its own description: `call('readJob', { params: { jobId } })`.
 * @throws {ApiError} for every response other than 2xx
 */
export function createClient({ baseUrl, apiKey }: ClientOptions): Call {
  return async (name, input) => {
    const { params = {}, query, headers, body, contentType = 'application/json' }: Input = input;
    const [method, path] = OPERATIONS[name];
    const filled = path.replaceAll(/\{(\w+)\}/g, (_match, one: string) =>
      encodeURIComponent(params[one] ?? ''),
    );
    const url = new URL(filled, baseUrl);
    url.search = new URLSearchParams(present(query)).toString();
    const response = await fetch(url, {
      method,
      headers: [
        ['authorization', `Bearer ${apiKey}`],
        ...(body === undefined ? [] : ([['content-type', contentType]] as [string, string][])),
        ...present(headers),
      ],
      ...(body === undefined
        ? {}
        : { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const content: unknown = await response.json();
    if (!response.ok) throw new ApiError(content as Problem);
    return { status: response.status, headers: response.headers, body: content } as never;
  };
}

/**
 * Whether a verified webhook is this event; then its `data` has that event's fields. A later release may send more fields, and
 * events that this client does not know.
 */
export const isEvent = <Name extends keyof WebhookEvents>(
  webhook: { readonly event: string },
  name: Name,
): webhook is WebhookEvents[Name] => webhook.event === name;
