/** Who waits after an engine has limited its rate (429): the workspaces whose calls it refused, and no others. */
import type { WorkspaceId } from '../ids.ts';
import { ProviderError } from './types.ts';

/** The first pause of a series; each further one is twice as long. */
const FIRST_MS = 1_000;
/** The longest pause, unless the engine asks for a longer one. A series ends when none follows for as long. */
const LONGEST_MS = 60_000;
/** Workspaces that are remembered; beyond that the one that was limited longest ago is forgotten. */
const MAX_WORKSPACES = 1_000;

interface Pause {
  /** When it began and when it ends, by the clock. */
  readonly from: number;
  readonly until: number;
  readonly length: number;
}

export interface Pauses {
  /**
   * Makes a call for a workspace, unless the workspace pauses.
   * @throws {ProviderError} what the call throws; limited, with the rest of the pause, when it is not made or met a limit
   */
  readonly run: <Result>(workspace: WorkspaceId, call: () => Promise<Result>) => Promise<Result>;
}

/**
 * The pauses of one engine in one process (contract.md J19).
 * @param now the clock, in milliseconds
 */
export function createPauses(now: () => number = () => performance.now()): Pauses {
  /** In the order in which they began. */
  const pauses = new Map<WorkspaceId, Pause>();
  const left = (workspace: WorkspaceId): number => Math.max(0, (pauses.get(workspace)?.until ?? 0) - now());

  const begin = (workspace: WorkspaceId, length: number, retryAfterMs: number): void => {
    const from = now();
    pauses.delete(workspace);
    pauses.set(workspace, { from, until: from + Math.max(length, retryAfterMs), length });
    const [oldest] = pauses.keys();
    if (pauses.size > MAX_WORKSPACES && oldest !== undefined) pauses.delete(oldest);
  };

  const limited = (workspace: WorkspaceId, beganAt: number, retryAfterMs = 0): void => {
    const last = pauses.get(workspace);
    if (last === undefined || now() - last.until > LONGEST_MS) begin(workspace, FIRST_MS, retryAfterMs);
    else if (beganAt >= last.from) begin(workspace, Math.min(2 * last.length, LONGEST_MS), retryAfterMs);
    // Calls that were under way together met the same limit: they lengthen the pause only if the engine asks for it.
    else pauses.set(workspace, { ...last, until: Math.max(last.until, now() + retryAfterMs) });
  };

  return {
    async run(workspace, call) {
      const rest = left(workspace);
      if (rest > 0) {
        const options = { limited: true, retryAfterMs: rest };
        throw new ProviderError('retryable', 'The engine limits the rate of this workspace.', options);
      }
      const beganAt = now();
      try {
        const result = await call();
        // A call from before the pause says nothing about it.
        if (beganAt >= (pauses.get(workspace)?.from ?? 0)) pauses.delete(workspace);
        return result;
      } catch (error) {
        if (!(error instanceof ProviderError) || !error.limited) throw error;
        limited(workspace, beganAt, error.retryAfterMs);
        const options = { limited: true, retryAfterMs: left(workspace), cause: error };
        throw new ProviderError(error.kind, error.message, options);
      }
    },
  };
}
