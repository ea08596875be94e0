import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { type BlobStore, blobFolder, blobKey, createLocalBlobStore } from '../../../src/blobs/blob-store.ts';
import { S3_LIMITS, type S3Settings, s3Url } from '../../../src/blobs/s3/settings.ts';
import { createS3BlobStore } from '../../../src/blobs/s3/store.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startS3Server } from '../../support/s3-server.ts';
import { eventually } from '../../support/wait.ts';

export interface StoreUnderTest {
  readonly store: BlobStore;
  /** Puts bytes under a key as somebody else's tool might. */
  readonly plant: (key: string, bytes: Uint8Array) => Promise<void>;
  /** Makes a blob so many milliseconds older than now. */
  readonly setAge: (hash: string, ms: number) => void;
  readonly stop: () => Promise<void>;
}

async function startFolder(): Promise<StoreUnderTest> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'wcs-store-'));
  const folder = blobFolder(dataDir);
  return {
    store: createLocalBlobStore(folder),
    plant: async (key, bytes) => {
      const file = path.join(folder, key);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, bytes);
    },
    setAge: (hash, ms) => age(path.join(folder, blobKey(hash)), ms),
    stop: async () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

const startS3 = (pathStyle: boolean) => async (): Promise<StoreUnderTest> => {
  const server = await startS3Server({ pathStyle });
  const store = createS3BlobStore(server.settings, { ...S3_LIMITS, lookup: server.lookup });
  return {
    store,
    plant: async (key, bytes) => {
      server.objects.set(key, { bytes: Buffer.from(bytes), changedAt: Date.now() });
    },
    setAge: (hash, ms) => {
      const object = server.objects.get(blobKey(hash));
      if (object !== undefined) object.changedAt = Date.now() - ms;
    },
    stop: async () => {
      await store.close();
      await server.close();
    },
  };
};

/** S3 as the gateway of Versity speaks it, on files of this machine (`npm run test:s3`). */
const startGateway = (binary: string) => async (): Promise<StoreUnderTest> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wcs-gateway-'));
  mkdirSync(path.join(folder, 'buckets'));
  const free = await startReceiver();
  await free.close();
  const settings: S3Settings = {
    endpoint: `http://127.0.0.1:${free.port}`,
    bucket: 'images',
    region: 'test-1',
    pathStyle: true,
    encryption: undefined,
    accessKeyId: 'AKTEST',
    secretAccessKey: 'very/secret+key',
  };
  const gateway: ChildProcess = spawn(
    binary,
    [
      '--port',
      `127.0.0.1:${free.port}`,
      '--region',
      settings.region,
      '--quiet',
      '--keep-alive',
      'posix',
      path.join(folder, 'buckets'),
    ],
    {
      env: { ROOT_ACCESS_KEY_ID: settings.accessKeyId, ROOT_SECRET_ACCESS_KEY: settings.secretAccessKey },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const ended = new Promise((resolve) => gateway.once('exit', resolve));
  const put = async (key: string, bytes: Uint8Array): Promise<number> => {
    const url = s3Url(settings, key);
    const signed = await new AwsV4Signer({ ...settings, service: 's3', method: 'PUT', url }).sign();
    return (await fetch(url, { method: 'PUT', headers: signed.headers, body: Uint8Array.from(bytes) }))
      .status;
  };
  await eventually(
    () => put('', Buffer.of()).catch(() => 0),
    (status) => status === 200,
  );
  const store = createS3BlobStore(settings);
  return {
    store,
    plant: async (key, bytes) => {
      await put(key, bytes);
    },
    setAge: (hash, ms) => age(path.join(folder, 'buckets', settings.bucket, blobKey(hash)), ms),
    stop: async () => {
      await store.close();
      gateway.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const age = (file: string, ms: number): void => {
  const then = new Date(Date.now() - ms);
  utimesSync(file, then, then);
};

const gateway = process.env.VERSITYGW;

/** The stores that have to keep the same promises; the gateway alone where it is there. */
export const STORES: readonly { readonly name: string; readonly start: () => Promise<StoreUnderTest> }[] =
  gateway === undefined
    ? [
        { name: 'a folder', start: startFolder },
        { name: 'a bucket named in the path', start: startS3(true) },
        { name: 'a bucket named in the host', start: startS3(false) },
      ]
    : [{ name: 'a bucket of versitygw', start: startGateway(gateway) }];
