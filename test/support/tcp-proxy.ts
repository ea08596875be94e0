import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface TcpProxy {
  /** host:port to connect to instead of the target. */
  readonly address: string;
  /** Cuts every connection and refuses new ones, as a server that went away does. */
  cut(): Promise<void>;
  /** Lets connections through again, on the same port. */
  restore(): Promise<void>;
  /**
   * Passes nothing on, in either direction, and closes nothing, as a network that drops every packet does; or only
   * what the target answers is lost.
   */
  silence(what?: 'everything' | 'answers'): void;
  /** Sees what clients send, before it is passed on; `connection` tells one from another. */
  onSent: (bytes: Buffer, connection: number) => void;
  /**
   * Ends the silence for new connections, to another target if one is given. Those that were silent stay so: nobody
   * ever hears of them again. Without `lost`, they go on with what was kept back.
   */
  speak(how?: { readonly target?: Target; readonly lost?: boolean }): void;
  /** Resets every connection, and sends new ones to another target. */
  failOver(target: Target): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly number: number;
  lost: boolean;
}

/** A door in front of a real server, which tests can shut, or hold. */
export async function startTcpProxy(initial: Target): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let target = initial;
  let silent: 'everything' | 'answers' | null = null;
  let count = 0;

  const join = ({ client, upstream }: Pair) => {
    client.pipe(upstream);
    upstream.pipe(client);
  };
  const part = ({ client, upstream }: Pair) => {
    for (const socket of silent === 'answers' ? [upstream] : [client, upstream]) {
      socket.unpipe();
      socket.pause();
    }
  };

  const server = createServer((client) => {
    count += 1;
    const pair: Pair = { client, upstream: connect(target), number: count, lost: false };
    pairs.add(pair);
    const { upstream } = pair;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        // While all is silent, the other side does not hear of it, and has still to be closed.
        if (silent === null && !pair.lost) other.destroy();
        if (other.destroyed) pairs.delete(pair);
      });
    }
    client.on('data', (bytes: Buffer) => proxy.onSent(bytes, pair.number));
    join(pair);
    if (silent !== null) part(pair);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const destroyAll = (destroy: (socket: Socket) => void) => {
    for (const { client, upstream } of pairs) for (const socket of [client, upstream]) destroy(socket);
  };
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    destroyAll((socket) => socket.destroy());
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const proxy: TcpProxy = {
    address: `127.0.0.1:${port}`,
    cut,
    restore: () => listen(port),
    onSent: () => undefined,
    silence(what = 'everything') {
      silent = what;
      for (const pair of pairs) part(pair);
    },
    speak(how = {}) {
      silent = null;
      target = how.target ?? target;
      for (const pair of pairs) {
        if (pair.lost) continue;
        if (how.lost) pair.lost = true;
        else join(pair);
      }
    },
    failOver(next) {
      silent = null;
      target = next;
      destroyAll((socket) => socket.resetAndDestroy());
    },
    close: async () => {
      if (server.listening) await cut();
    },
  };
  return proxy;
}
