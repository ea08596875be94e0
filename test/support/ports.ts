import type { Server } from 'node:net';
import { errorCode } from '../../src/error-text.ts';

/** Below those that engines take (src/ports.ts) and that clients connect from, above 10080, to which fetch refuses to connect. */
const FIRST_PORT = 10_100;
const PORTS_EACH = 1_900;
/** Each test process that runs beside others has ports of its own; 0 is outside tests. */
const own = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % 5) * PORTS_EACH;
let used = process.pid;

/**
 * Listens on a port that none of our listeners has had for long: what is still sent to one that has closed, by a worker of
 * another test, must not reach this one.
 * @returns the port
 */
export async function listenAlone(server: Server, host: string): Promise<number> {
  for (let tried = 0; tried < PORTS_EACH; tried += 1) {
    used += 1;
    try {
      return await listen(server, own + (used % PORTS_EACH), host);
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE' && errorCode(error) !== 'EACCES') throw error;
    }
  }
  throw new Error(`none of ${PORTS_EACH} ports from ${own} is free`);
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(port);
    });
  });
}
