import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { temporalConnectionOptions } from '../../src/temporal/connection-options.ts';
import { connectTemporal } from '../../src/temporal/runtime.ts';
import { createCertificate } from '../webhooks/sending/support/certificate.ts';

const folder = mkdtempSync(join(tmpdir(), 'wcs-tls-'));
const file = (name: string, pem: string) => {
  const path = join(folder, name);
  writeFileSync(path, pem);
  return path;
};
let door: Server;
let address: string;
let files: Record<'TEMPORAL_TLS_CA' | 'TEMPORAL_TLS_CERT' | 'TEMPORAL_TLS_KEY', string>;

/** A real Temporal server behind TLS that lets in those with the right client certificate only. */
beforeAll(async () => {
  const server = createCertificate('localhost');
  const client = createCertificate('client.test');
  const [host = '', port = ''] = inject('temporalAddress').split(':');
  const options = { ...server, ca: client.cert, requestCert: true, ALPNProtocols: ['h2'] };
  door = createServer(options, (socket) => {
    const upstream = connect(Number(port), host);
    socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  door.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  address = `localhost:${(door.address() as AddressInfo).port}`;
  files = {
    TEMPORAL_TLS_CA: file('ca.pem', server.cert),
    TEMPORAL_TLS_CERT: file('client.pem', client.cert),
    TEMPORAL_TLS_KEY: file('client.key', client.key),
  };
});
afterAll(async () => {
  await new Promise((resolve) => door.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const targetOf = (env: Record<string, string>) =>
  temporalConnectionOptions({ ...loadConfig(env), TEMPORAL_ADDRESS: address });

it('server and worker reach Temporal over TLS with a client certificate and a private authority', async () => {
  const target = targetOf(files);
  const native = await connectTemporal(target);
  expect((await native.workflowService.getSystemInfo({})).serverVersion).toMatch(/^1\./);
  await native.close();
  const connection = await Connection.connect({ ...target });
  expect((await connection.workflowService.getSystemInfo({})).serverVersion).toMatch(/^1\./);
  await connection.close();
});

it('neither gets in without the certificate, nor to a server of another authority', async () => {
  const { TEMPORAL_TLS_CA, ...pair } = files;
  for (const env of [{ TEMPORAL_TLS_CA }, { ...pair, TEMPORAL_TLS: 'true' }]) {
    const target = targetOf(env);
    await expect(connectTemporal(target)).rejects.toThrow();
    await expect(Connection.connect({ ...target, connectTimeout: 2_000 })).rejects.toThrow();
  }
});
