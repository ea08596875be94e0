import type { NativeConnection } from '@temporalio/worker';

/** gRPC's PERMISSION_DENIED and UNAUTHENTICATED. */
const REFUSALS = new Set<unknown>([7, 16]);
/** The same in the text of an error that has no code: one of the connection itself. */
const REFUSAL_WORDS = /PermissionDenied|Unauthenticated|does not have permission|valid authentication/;

/** A refusal may be a momentary fault of the server; one that lasts this long, in milliseconds, is real. */
const MEANT_AFTER_MS = 60_000;

/** Whether an error of a call or of the connection means that Temporal refuses us access. */
export function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && REFUSALS.has(cause.code)) return true;
    if (REFUSAL_WORDS.test(cause.message)) return true;
  }
  return false;
}

/**
 * Asks for the namespace, which takes the rights that a worker needs.
 * @throws when there is no answer before the deadline, or a refusal: see `isRefusal`
 */
export async function askForNamespace(
  connection: NativeConnection,
  namespace: string,
  deadlineMs: number,
): Promise<void> {
  await connection.withDeadline(Date.now() + deadlineMs, () =>
    connection.workflowService.describeNamespace({ namespace }),
  );
}

/** What to do about a refusal, for the operator of the worker. */
export const explainRefusal = (address: string, namespace: string): string =>
  `Temporal at ${address} refuses access to the namespace ${namespace}. Check TEMPORAL_API_KEY ` +
  '(or TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY) and TEMPORAL_NAMESPACE.';

/** Remembers since when Temporal has refused access. */
export interface AccessWatch {
  /** The same check, watched. */
  readonly check: () => Promise<void>;
  /** True when every check of the last minute was refused. */
  readonly isRefused: () => boolean;
}

export function watchAccess(check: () => Promise<void>, meantAfterMs: number = MEANT_AFTER_MS): AccessWatch {
  let refusedSince: number | undefined;
  return {
    async check() {
      try {
        await check();
        refusedSince = undefined;
      } catch (error) {
        if (isRefusal(error)) refusedSince ??= performance.now();
        else refusedSince = undefined;
        throw error;
      }
    },
    isRefused: () => refusedSince !== undefined && performance.now() - refusedSince >= meantAfterMs,
  };
}
