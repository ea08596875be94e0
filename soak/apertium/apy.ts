import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { eventually } from '../../test/support/wait.ts';

/** Where Debian's packages put the language pairs. */
export const MODES_FOLDER = '/usr/share/apertium/modes';

/** APY binds every address and has no option for it: this binds loopback only. */
const ON_LOOPBACK = `
import sys
from tornado import tcpserver
bind = tcpserver.TCPServer.bind
tcpserver.TCPServer.bind = lambda self, port, address=None, *rest, **named: bind(self, port, '127.0.0.1', *rest, **named)
from apertium_apy.apy import main
sys.argv[0] = 'apertium-apy'
main()
`;

/** The installed server's script. */
export function findApy(): string | undefined {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'apertium-apy'))
    .find((file) => existsSync(file));
}

export interface Apy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts Apertium's own HTTP server on a free port of loopback. */
export async function startApy(): Promise<Apy> {
  const script = findApy();
  if (script === undefined) throw new Error('apertium-apy is not installed');
  const python = /^#!\s*(\S+)/.exec(readFileSync(script, 'utf8'))?.[1] ?? 'python3';
  const port = await freePort();
  const child = spawn(python, ['-c', ON_LOOPBACK, '-p', String(port), path.dirname(MODES_FOLDER)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4_000);
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`apertium-apy ended:\n${log}`);
      return fetch(`${url}/listPairs`).then(
        (response) => response.ok,
        () => false,
      );
    },
    (up) => up,
  );
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
