/** Tells whoever looks after the outbox of this process that there may be new rows. */
export interface OutboxBell {
  ring(): void;
  /** @returns how to stop listening */
  onRing(listener: () => void): () => void;
}

export function createOutboxBell(): OutboxBell {
  const listeners = new Set<() => void>();
  return {
    ring() {
      for (const listener of [...listeners]) listener();
    },
    onRing(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
