/** Searches of workspaces, in turns: engines limit the whole deployment, so none may use up what all have. */
import { SpanKind } from '@opentelemetry/api';
import { createFairQueue } from '../../fair-queue.ts';
import { pause } from '../../pause.ts';
import { ProviderError } from '../../providers/types.ts';
import { traced } from '../../tracing/spans.ts';
import type { SearchEngine, SearchResult } from './engine.ts';

export interface SearchLimits {
  /** Searches of a workspace a minute, evenly. */
  readonly perMinute: number;
  /** Searches at the same time; a workspace has half of them. */
  readonly atOnce: number;
  /** Milliseconds that a search may wait. */
  readonly waitMs: number;
}

const LIMITS: SearchLimits = { perMinute: 60, atOnce: 4, waitMs: 120_000 };
/** Searches of a workspace that may wait. */
const MAX_WAITING = 40;

/** Searches for a workspace (contract.md N3). @throws {ProviderError} also retryable when its turn did not come */
export type Search = (
  query: string,
  options: { readonly workspaceId: string; readonly signal: AbortSignal },
) => Promise<readonly SearchResult[]>;

/** Bounds the searches of each workspace, in this process, and shares the engine among them. */
export function searchInTurns(engine: SearchEngine, limits: SearchLimits = LIMITS): Search {
  const everyMs = 60_000 / limits.perMinute;
  const refusal = (): ProviderError =>
    new ProviderError('retryable', 'Too many searches of this workspace are waiting.');
  const queue = createFairQueue({
    total: limits.atOnce,
    perOwner: Math.max(1, Math.floor(limits.atOnce / 2)),
    maxWaiting: MAX_WAITING,
    refusal,
  });
  /** When a workspace's next search may begin; forgotten once that is over. */
  const nextAt = new Map<string, number>();

  const pace = async (workspaceId: string, signal: AbortSignal): Promise<void> => {
    const now = performance.now();
    for (const [other, at] of nextAt) {
      if (at > now) break;
      nextAt.delete(other);
    }
    const at = Math.max(now, nextAt.get(workspaceId) ?? now);
    if (at - now > limits.waitMs) throw refusal();
    nextAt.delete(workspaceId);
    nextAt.set(workspaceId, at + everyMs);
    if (at > now) await pause(at - now, signal);
    signal.throwIfAborted();
  };

  return async (query, { workspaceId, signal }) => {
    await pace(workspaceId, signal);
    const release = await queue.take(workspaceId, { waitMs: limits.waitMs, signal });
    try {
      return await traced(`search ${engine.name}`, { kind: SpanKind.CLIENT }, async (span) => {
        const found = await engine.search(query, signal);
        span.setAttribute('engine.results', found.length);
        return found;
      });
    } finally {
      release();
    }
  };
}
