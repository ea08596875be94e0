import type { Database } from '../../src/db/database.ts';
import { createPaces, type Paces } from '../../src/webhooks/pace/paces.ts';

/** Paces of a process that notifies nobody. */
export const startPaces = (db: Database): Paces =>
  createPaces({
    db,
    onRefused: () => undefined,
    onStored: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
