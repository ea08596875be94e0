import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { S3Settings } from '../../src/blobs/s3/settings.ts';
import { listenAlone } from './ports.ts';
import { signatureError } from './s3-signature.ts';

interface StoredObject {
  readonly bytes: Buffer;
  changedAt: number;
}

/** A request whose signature is right, and the way to serve it as usual. */
export interface S3Call {
  readonly method: string;
  /** Empty for the bucket. */
  readonly key: string;
  readonly headers: IncomingMessage['headers'];
  readonly response: ServerResponse;
  readonly serve: () => void;
  /** Sends status and code as S3 words its errors. */
  readonly refuse: (status: number, code: string, headers?: Record<string, string>) => void;
}

export interface S3Server {
  /** For a client of the bucket. */
  readonly settings: S3Settings;
  /** Leads the names of buckets to this server. */
  readonly lookup: LookupFunction;
  readonly objects: Map<string, StoredObject>;
  /** `METHOD key` of every request. */
  readonly requests: string[];
  /** Decides what happens with a request, instead of `serve`. */
  behave: (call: S3Call) => void;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  aheadMs: number;
  /** The bucket it has; another one is answered with NoSuchBucket. */
  bucket: string;
  /** Bytes handed to the kernel on all connections so far. */
  bytesWritten(): number;
  openConnections(): number;
  close(): Promise<void>;
}

const xml = (name: string, ...inner: string[]): string => `<${name}>${inner.join('')}</${name}>`;
const clean = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const errorXml = (code: string): string =>
  xml(
    'Error',
    xml('Code', code),
    xml('Message', 'Words that may repeat the request.'),
    xml('AWSAccessKeyId', 'x'),
  );

/** Continuation tokens begin with every sign that has to be escaped in XML or in a query. */
const TOKEN = 't +/=&<';

/** A bucket on loopback that checks requests as S3 does, and whose responses a test can spoil. */
export async function startS3Server({ pathStyle = true } = {}): Promise<S3Server> {
  const objects = new Map<string, StoredObject>();
  const sockets = new Set<Socket>();
  let written = 0;
  const credentials = { accessKeyId: 'AKTEST', secretAccessKey: 'very/secret+key', region: 'test-1' };

  const http = createServer(async (request, response) => {
    const now = Date.now() + self.aheadMs;
    response.setHeader('date', new Date(now).toUTCString());
    const send = (status: number, headers: Record<string, string>, body: Buffer | string = '') => {
      response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
      response.end(request.method === 'HEAD' ? undefined : body);
    };
    const refuse: S3Call['refuse'] = (status, code, headers = {}) => send(status, headers, errorXml(code));
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const parts = path.slice(1).split('/');
    const virtual = (request.headers.host ?? '').split('.', 1)[0];
    const named = pathStyle ? parts.shift() : virtual;
    const key = parts.join('/');
    self.requests.push(`${request.method} ${key}`);
    const body = await buffer(request).catch(() => null);
    if (body === null) return;
    const wrong = signatureError(request, body, credentials, now);
    if (wrong !== null) return refuse(wrong === 'XAmzContentSHA256Mismatch' ? 400 : 403, wrong);
    if (named !== self.bucket) return refuse(404, 'NoSuchBucket');
    const serve = () => {
      const found = objects.get(key);
      if (request.method === 'PUT') return put(request, body, key, now, send, refuse);
      if (request.method === 'DELETE') {
        objects.delete(key);
        return send(204, {});
      }
      if (key === '') return request.method === 'HEAD' ? send(200, {}) : send(200, {}, list(query));
      if (found === undefined) return refuse(404, 'NoSuchKey');
      const headers = { 'last-modified': new Date(found.changedAt).toUTCString() };
      const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
      if (request.method === 'HEAD')
        return send(200, { ...headers, 'content-length': String(found.bytes.length) });
      return from === undefined
        ? send(200, headers, found.bytes)
        : send(206, headers, found.bytes.subarray(Number(from)));
    };
    self.behave({ method: request.method ?? '', key, headers: request.headers, response, serve, refuse });
  });

  function put(
    { headers }: IncomingMessage,
    body: Buffer,
    key: string,
    now: number,
    send: (status: number, headers: Record<string, string>) => void,
    refuse: S3Call['refuse'],
  ): void {
    const digest = createHash('sha256').update(body).digest('base64');
    if (headers['x-amz-checksum-sha256'] !== digest) refuse(400, 'BadDigest');
    else if (headers['if-none-match'] === '*' && objects.has(key)) refuse(412, 'PreconditionFailed');
    else {
      objects.set(key, { bytes: body, changedAt: now });
      send(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` });
    }
  }

  /** A page of ListObjectsV2. */
  function list(query: string): string {
    const wanted = new URLSearchParams(query);
    const after = wanted.get('continuation-token')?.slice(TOKEN.length) ?? '';
    const size = Math.min(1_000, Number(wanted.get('max-keys') ?? 1_000));
    const keys = [...objects.keys()]
      .filter((key) => key.startsWith(wanted.get('prefix') ?? '') && key > after)
      .sort();
    const page = keys.slice(0, size);
    const isTruncated = keys.length > page.length;
    const contents = page.map((key) => xml('Contents', xml('Key', clean(key)), xml('Size', '1')));
    const next = isTruncated ? [xml('NextContinuationToken', clean(`${TOKEN}${page.at(-1)}`))] : [];
    return `<?xml version="1.0" encoding="UTF-8"?>\n${xml('ListBucketResult', xml('IsTruncated', String(isTruncated)), ...next, ...contents)}`;
  }

  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      written += socket.bytesWritten;
      sockets.delete(socket);
    });
  });
  const port = await listenAlone(http, '127.0.0.1');
  const self: S3Server = {
    settings: {
      endpoint: pathStyle ? `http://127.0.0.1:${port}` : `http://s3.test:${port}`,
      bucket: 'images',
      pathStyle,
      encryption: 'AES256',
      ...credentials,
    },
    lookup: (_name, { all }, done) => {
      const family = 4;
      if (all === true) done(null, [{ address: '127.0.0.1', family }]);
      else done(null, '127.0.0.1', family);
    },
    objects,
    requests: [],
    behave: ({ serve }) => serve(),
    aheadMs: 0,
    bucket: 'images',
    bytesWritten: () =>
      [...sockets].reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, written),
    openConnections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return self;
}
