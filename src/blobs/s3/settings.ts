import type { LookupFunction } from 'node:net';

/** Encryption at rest that S3 is asked for with each object. */
export const S3_ENCRYPTIONS = ['AES256', 'aws:kms'] as const;

/** A bucket of its own for this service, and who may use it. */
export interface S3Settings {
  /** scheme://host:port */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`. */
  readonly pathStyle: boolean;
  readonly encryption: (typeof S3_ENCRYPTIONS)[number] | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** How long S3 is waited for, in milliseconds, and how often. */
export interface S3Limits {
  readonly connectMs: number;
  /**
   * Of one attempt until its response is there, and for each MiB that it sends a second more; unless the response is
   * streamed, until its body has been read.
   */
  readonly attemptMs: number;
  /** The longest pause of a body that somebody is waiting for. */
  readonly idleMs: number;
  /** Of a call, the first included. */
  readonly attempts: number;
  /** The longest pause before the second attempt; each further one doubles it. */
  readonly pauseMs: number;
  /** How names become addresses, instead of the system's way. */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * A call without a body ends within the 15 seconds for which a transaction may idle: who removes bytes has one open. One
 * with the largest image may take a minute and a quarter.
 */
export const S3_LIMITS: S3Limits = {
  connectMs: 3_000,
  attemptMs: 4_000,
  idleMs: 10_000,
  attempts: 3,
  pauseMs: 200,
};

/** The URL of a key, or of the bucket itself for an empty one. */
export function s3Url({ endpoint, bucket, pathStyle }: S3Settings, key: string, query = ''): string {
  const { protocol, host } = new URL(endpoint);
  const url = new URL(pathStyle ? endpoint : `${protocol}//${bucket}.${host}`);
  url.pathname = pathStyle ? `/${bucket}${key === '' ? '' : `/${key}`}` : `/${key}`;
  url.search = query;
  return url.href;
}
