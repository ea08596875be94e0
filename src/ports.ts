import { randomInt } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { errorCode } from './error-text.ts';

/** The only address the embedded engines listen on. */
export const LOOPBACK = '127.0.0.1';

/**
 * Ports below those that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere): an engine that is
 * started again on its port must not find a client's there, not even one that has met itself while nobody listened.
 */
const QUIET_PORTS = [20_000, 32_000] as const;
/** How many of them are tried before the system is asked for any. */
const MAX_TRIES = 50;

/**
 * Finds free TCP ports on the loopback address. All are held open together before any is given back, so the answer
 * never names one port twice. Another process can still take one before it is used: callers start again with new
 * ports when their engine cannot bind.
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
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(1_000, () => answer(false));
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}

async function listenQuietly(): Promise<Server> {
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    try {
      return await listen(randomInt(...QUIET_PORTS));
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
