import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request } from 'undici';
import { connectionFailure, responseFailure, S3Failure } from './failure.ts';
import { type S3Limits, type S3Settings, s3Url } from './settings.ts';

/** Of the body of an error, where its code is. */
const ERROR_BYTES = 16 * 1024;
/** What a stream reads ahead of its reader. */
const READ_AHEAD_BYTES = 16 * 1024;
/** The longest wait that S3 may ask for before the next attempt, in milliseconds. */
const LONGEST_PAUSE_MS = 1_000;
const MIB = 1024 * 1024;
/** SHA-256 of no bytes. */
const NO_BYTES = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export type S3Response = Dispatcher.ResponseData;

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Empty for the bucket. */
  readonly key: string;
  /** `name=value&…`, in which everything but unreserved characters is escaped. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Uint8Array; readonly sha256: string };
  /** The statuses that are no failures. */
  readonly expected: readonly number[];
}

export interface S3Client {
  /**
   * Sends a signed request, up to `attempts` times, and reads its response with `read`.
   * @throws {S3Failure}
   */
  readonly call: <Result>(
    wanted: S3Request,
    read: (response: S3Response) => Promise<Result>,
  ) => Promise<Result>;
  /** A pause before the attempt after `made` ones, unless the failure is to last or there have been enough. */
  readonly pauseAfter: (failure: S3Failure, made: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Reads a body that is not needed to its end, so that its connection can be used again. */
export const ignoreBody = async ({ body }: S3Response): Promise<void> => {
  await body.dump({ limit: ERROR_BYTES });
};

/**
 * A body as text.
 * @throws {S3Failure} when it has more bytes
 */
export async function readText({ body }: S3Response, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      throw new S3Failure(`The image store sent more than ${maxBytes} bytes.`, { retryable: false });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Signed calls to one bucket, each retried a few times where that may help. */
export function createS3Client(settings: S3Settings, limits: S3Limits): S3Client {
  const { connectMs, attemptMs, idleMs, lookup } = limits;
  const agent = new Agent({
    connect: { timeout: connectMs, ...(lookup === undefined ? {} : { lookup }) },
    // The timer of each attempt ends those.
    headersTimeout: 0,
    bodyTimeout: idleMs,
  });
  const derivedKeys = new Map<string, ArrayBuffer>();

  async function sign({ method, key, query, headers, body }: S3Request) {
    const signed = await new AwsV4Signer({
      method,
      url: s3Url(settings, key, query),
      headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? NO_BYTES },
      accessKeyId: settings.accessKeyId,
      secretAccessKey: settings.secretAccessKey,
      region: settings.region,
      service: 's3',
      cache: derivedKeys,
    }).sign();
    return { url: signed.url, headers: Object.fromEntries(signed.headers) };
  }

  async function attempt<Result>(
    wanted: S3Request,
    read: (response: S3Response) => Promise<Result>,
  ): Promise<Result> {
    const { method, body, expected } = wanted;
    const { url, headers } = await sign(wanted);
    const late = new AbortController();
    const timeoutMs = attemptMs + Math.ceil((body?.bytes.byteLength ?? 0) / MIB) * 1_000;
    const timer = setTimeout(() => {
      const message = `The image store did not respond to ${method} within ${timeoutMs / 1_000} s.`;
      late.abort(new S3Failure(message, { retryable: true }));
    }, timeoutMs);
    try {
      const response = await request(url, {
        method,
        headers,
        body: body?.bytes ?? null,
        dispatcher: agent,
        highWaterMark: READ_AHEAD_BYTES,
        signal: late.signal,
      });
      if (expected.includes(response.statusCode)) return await read(response);
      const text = await readText(response, ERROR_BYTES).catch(() => '');
      throw responseFailure(method, response.statusCode, text, asText(response.headers['retry-after']));
    } catch (error) {
      throw connectionFailure(method, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function pauseAfter(failure: S3Failure, made: number): Promise<void> {
    if (!failure.retryable || made >= limits.attempts) throw failure;
    const longest = limits.pauseMs * 2 ** (made - 1);
    await sleep(
      Math.min(LONGEST_PAUSE_MS, Math.max(longest * (0.5 + Math.random() / 2), failure.retryAfterMs)),
    );
  }

  return {
    async call(wanted, read) {
      for (let made = 1; ; made += 1) {
        try {
          return await attempt(wanted, read);
        } catch (error) {
          await pauseAfter(connectionFailure(wanted.method, error), made);
        }
      }
    },
    pauseAfter,
    close: () => agent.destroy(),
  };
}

const asText = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;
