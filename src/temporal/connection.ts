import { NativeConnection } from '@temporalio/worker';
import type { TemporalTarget } from './target.ts';

/** One connection for clients and workers of a process: only a shared one lets a worker take its own starts eagerly. */
export const connectTemporal = (target: TemporalTarget): Promise<NativeConnection> =>
  NativeConnection.connect({ ...target });
