import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { openClientConnection } from '../../src/temporal/client-connection.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

it('a call that waits for its retry fails as cancelled when the connection is closed, and the process goes on', async () => {
  const nobody = await startTcpProxy({ host: '127.0.0.1', port: 1 });
  const connection = openClientConnection({ address: nobody.address, tls: false });
  const call = connection.workflowService.getSystemInfo({}).then(
    () => null,
    (error: { code?: number }) => error,
  );
  // Long enough for the first failure, so that closing meets the timer of a retry.
  await sleep(300);
  await connection.close();
  expect(await call).toMatchObject({ code: status.CANCELLED });
  await nobody.close();
});
