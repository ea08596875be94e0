import type { z } from 'zod';
import { PlainError } from '../../src/local/service.ts';

export interface Call<Schema extends z.ZodType> {
  readonly method: 'GET' | 'POST';
  /** With the leading slash, such as /api/whoami. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The only status that is right here. */
  readonly expect: number;
  /** The shape of the answer. */
  readonly answer: Schema;
}

/** Calls the service as any client would: over HTTP, with a key. */
export type Api = <Schema extends z.ZodType>(call: Call<Schema>) => Promise<z.output<Schema>>;

/**
 * A client of the service at `url`.
 * Its calls throw a PlainError for an answer of another status or shape than expected.
 */
export const createApi =
  (url: string, key: string, signal: AbortSignal): Api =>
  async ({ method, path, body, headers, expect, answer }) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    });
    const text = await response.text();
    if (response.status !== expect) {
      throw new PlainError(`${method} ${path} answered ${response.status} instead of ${expect}: ${text}`);
    }
    const parsed = answer.safeParse(JSON.parse(text));
    if (!parsed.success) {
      const problem = parsed.error.issues
        .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
        .join('; ');
      throw new PlainError(`${method} ${path} answered in another shape than documented: ${problem}`);
    }
    return parsed.data;
  };
