import type { IncomingMessage } from 'node:http';

/** Bytes a second that are read of one owner's unread bodies, and of all. */
const RATES = { perOwner: 8 * 1024 * 1024, total: 32 * 1024 * 1024 };
/** How long a body is read, and how long nothing may come of it, in milliseconds. */
const MOST_MS = 5_000;
const STALL_MS = 1_000;
/** Waits below this, in milliseconds, are saved up. */
const GRAIN_MS = 5;

export interface UnreadBodies {
  /**
   * Reads what a response leaves unread of its request's body, before the response is sent: a client that would send the
   * same again at once costs a bounded share of the process, and one that reads only after it has sent gets its response (contract.md A57).
   * @param owner whose bodies share a rate: the workspace, or a stranger's address
   * @returns false when the body has not ended: the connection can serve no other request
   */
  readonly drain: (incoming: IncomingMessage, owner: string) => Promise<boolean>;
}

interface Owner {
  open: number;
  /** When the bytes read so far are paid for. */
  paidAt: number;
}

/** Whether part of a body is still to come that no handler has begun to read. */
export const isUnread = (incoming: IncomingMessage): boolean =>
  !incoming.complete && !incoming.readableDidRead;

/** @param rates bytes a second; tests take less */
export function createUnreadBodies(rates = RATES): UnreadBodies {
  const owners = new Map<string, Owner>();
  const all: Owner = { open: 0, paidAt: 0 };

  /** Counts bytes. @returns milliseconds until more may be read */
  const pay = (owner: Owner, bytes: number): number => {
    const now = performance.now();
    owner.paidAt = Math.max(now, owner.paidAt) + (bytes * 1_000) / rates.perOwner;
    all.paidAt = Math.max(now, all.paidAt) + (bytes * 1_000) / rates.total;
    return Math.max(owner.paidAt, all.paidAt) - now;
  };

  const read = (incoming: IncomingMessage, owner: Owner): Promise<boolean> =>
    new Promise((resolve) => {
      let pause: NodeJS.Timeout | undefined;
      let stall = setTimeout(() => end(), STALL_MS);
      const end = (): void => {
        clearTimeout(deadline);
        clearTimeout(stall);
        clearTimeout(pause);
        incoming.off('data', onData).off('end', end).off('close', end);
        incoming.pause();
        resolve(incoming.complete);
      };
      const deadline = setTimeout(end, MOST_MS);
      const onData = (bytes: Buffer): void => {
        const waitMs = pay(owner, bytes.length);
        stall.refresh();
        if (waitMs < GRAIN_MS) return;
        incoming.pause();
        // The client waits for us.
        clearTimeout(stall);
        pause = setTimeout(() => {
          stall = setTimeout(end, STALL_MS);
          incoming.resume();
        }, waitMs);
      };
      incoming.on('data', onData).once('end', end).once('close', end);
    });

  return {
    async drain(incoming, name) {
      const owner = owners.get(name) ?? { open: 0, paidAt: 0 };
      owners.set(name, owner);
      owner.open += 1;
      try {
        return await read(incoming, owner);
      } finally {
        owner.open -= 1;
        if (owner.open === 0) owners.delete(name);
      }
    },
  };
}
