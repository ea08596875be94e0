import { randomInt } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { errorCode } from './error-text.ts';

/** The only address the embedded engines listen on. */
export const LOOPBACK = '127.0.0.1';

/**
 * Ports below the ephemeral ranges (from 32768 on Linux, 49152 elsewhere): a restarted engine must not find its port
 * taken by a client's outgoing connection, not even one connected to itself.
 */
const PORT_RANGE = [20_000, 32_000] as const;
/** How many of them are tried before the system chooses any. */
const MAX_TRIES = 50;

/**
 * Finds free TCP ports on the loopback address. All are held open together before any is released, so none is returned
 * twice. Another process can still take one before it is used: callers retry with new ports when their engine cannot
 * bind.
 *
 * @param count how many ports
 * @returns port numbers, all different
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  try {
    for (let index = 0; index < count; index += 1) servers.push(await listenQuietly());
    return servers.map(portOf);
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** Whether something accepts TCP connections on this loopback port. Never throws. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port });
    const settle = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

async function listenQuietly(): Promise<Server> {
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    try {
      return await listen(randomInt(...PORT_RANGE));
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE' && errorCode(error) !== 'EACCES') throw error;
    }
  }
  return listen(0);
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, LOOPBACK, () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The port of a TCP server is not known.');
  return address.port;
}
