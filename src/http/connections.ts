import type { Socket } from 'node:net';

/** Connections of one peer; a trusted proxy has no limit but that of all. */
const PER_PEER = 200;

export interface ConnectionLimits {
  /** Connections in all. */
  readonly total: number;
  /** Connections of one peer; 200 by default. */
  readonly perPeer?: number | undefined;
  /** The peer's name for its limit, or null when it has none: a trusted proxy. */
  readonly peerOf: (address: string | undefined) => string | null;
}

export interface Connections {
  /** Takes up a new connection, or closes it when every other one has a request. */
  readonly add: (socket: Socket) => void;
  readonly requestBegins: (socket: Socket) => void;
  readonly requestEnds: (socket: Socket) => void;
  /** Closes the connections that never had a request. */
  readonly closeUnused: () => void;
}

interface Known {
  readonly peer: string | null;
  requests: number;
  isUnused: boolean;
}

interface Peer {
  connections: number;
  /** Without a request, idle longest first. */
  readonly idle: Set<Socket>;
}

/** Bounds connections: at a limit the one that has been idle longest is closed for a new one (contract.md A54). */
export function createConnections({ total, perPeer = PER_PEER, peerOf }: ConnectionLimits): Connections {
  const known = new Map<Socket, Known>();
  const peers = new Map<string, Peer>();
  const idle = new Set<Socket>();

  const setIdle = (socket: Socket, { peer }: Known, isIdle: boolean): void => {
    const ofPeer = peer === null ? undefined : peers.get(peer)?.idle;
    for (const set of ofPeer === undefined ? [idle] : [idle, ofPeer]) {
      set.delete(socket);
      if (isIdle) set.add(socket);
    }
  };
  const forget = (socket: Socket): void => {
    const connection = known.get(socket);
    if (connection === undefined) return;
    setIdle(socket, connection, false);
    known.delete(socket);
    const peer = connection.peer === null ? undefined : peers.get(connection.peer);
    if (peer === undefined) return;
    peer.connections -= 1;
    if (peer.connections === 0 && connection.peer !== null) peers.delete(connection.peer);
  };
  /** False when none is idle. */
  const closeLongestIdle = (among: Set<Socket>): boolean => {
    const [longest] = among;
    if (longest === undefined) return false;
    forget(longest);
    longest.destroy();
    return true;
  };

  return {
    add(socket) {
      const name = peerOf(socket.remoteAddress);
      const peer =
        name === null ? undefined : (peers.get(name) ?? { connections: 0, idle: new Set<Socket>() });
      const hasRoom =
        (peer === undefined || peer.connections < perPeer || closeLongestIdle(peer.idle)) &&
        (known.size < total || closeLongestIdle(idle));
      if (!hasRoom) {
        socket.destroy();
        return;
      }
      if (name !== null && peer !== undefined) {
        peer.connections += 1;
        peers.set(name, peer);
      }
      const connection: Known = { peer: name, requests: 0, isUnused: true };
      known.set(socket, connection);
      setIdle(socket, connection, true);
      socket.once('close', () => forget(socket));
    },
    requestBegins(socket) {
      const connection = known.get(socket);
      if (connection === undefined) return;
      connection.requests += 1;
      connection.isUnused = false;
      setIdle(socket, connection, false);
    },
    requestEnds(socket) {
      const connection = known.get(socket);
      if (connection === undefined) return;
      connection.requests -= 1;
      if (connection.requests === 0) setIdle(socket, connection, true);
    },
    closeUnused() {
      for (const [socket, { isUnused }] of known) if (isUnused) socket.destroy();
    },
  };
}
