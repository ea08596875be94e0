import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Who may use the bucket of a test. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
const MAX_SKEW_MS = 900_000;

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Why S3 would refuse the request, as the code of its error; null for one that is signed as Signature Version 4 says.
 * @param now the server's clock, milliseconds
 */
export function signatureError(
  request: IncomingMessage,
  body: Uint8Array,
  { accessKeyId, secretAccessKey, region }: S3Credentials,
  now: number,
): string | null {
  const [, key, day, signedRegion, names = '', signature = ''] =
    AUTHORIZATION.exec(request.headers.authorization ?? '') ?? [];
  if (key === undefined) return 'AccessDenied';
  if (key !== accessKeyId) return 'InvalidAccessKeyId';
  const header = (name: string): string => String(request.headers[name] ?? '');
  const date = header('x-amz-date');
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(at) || date.slice(0, 8) !== day) return 'AccessDenied';
  if (Math.abs(at - now) > MAX_SKEW_MS) return 'RequestTimeTooSkewed';
  if (signedRegion !== region) return 'AuthorizationHeaderMalformed';
  const signed = names.split(';');
  const needed = Object.keys(request.headers).filter(
    (name) => name === 'host' || name.startsWith('x-amz-') || name === 'content-md5',
  );
  if (needed.some((name) => !signed.includes(name))) return 'AccessDenied';
  const payload = header('x-amz-content-sha256');
  if (payload !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('='));
  const canonicalQuery = pairs
    .map(([name = '', value = '']) => [escaped(decodeURIComponent(name)), escaped(decodeURIComponent(value))])
    .sort(([one = ''], [other = '']) => (one < other ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const canonicalPath = path
    .split('/')
    .map((part) => escaped(decodeURIComponent(part)))
    .join('/');
  const headers = signed.map((name) => `${name}:${header(name).trim().replace(/ +/g, ' ')}\n`).join('');
  const canonical = [request.method, canonicalPath, canonicalQuery, headers, names, payload].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const signingKey = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day ?? ''));
  const expected = hmac(signingKey, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n'));
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? null : 'SignatureDoesNotMatch';
}
