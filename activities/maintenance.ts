import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { pruneFormerBlobs } from '../src/articles/former-blobs.ts';
import { pruneRevisions } from '../src/articles/revisions/prune.ts';
import { pruneAuditEntries } from '../src/audit/prune.ts';
import { type BlobStore, BlobStoreError } from '../src/blobs/blob-store.ts';
import { type CollectPosition, collectBlobs } from '../src/blobs/collect.ts';
import { errorKind } from '../src/db/error-kind.ts';
import { rotatePartitions } from '../src/db/old-partitions.ts';
import { advancePruneClock } from '../src/db/prune-clock.ts';
import { errorCode, errorMessage } from '../src/error-text.ts';
import { pruneGenerations } from '../src/generation/prune.ts';
import type { CountPrune } from '../src/metrics/prune.ts';
import type { Round } from '../src/metrics/reconcile.ts';
import { emptyDeletedProjects } from '../src/projects/empty.ts';
import { endAbandonedOperations } from '../src/reconcile/ai-operations.ts';
import { reconcileDeliveries } from '../src/reconcile/deliveries.ts';
import { releaseStrandedHolds } from '../src/reconcile/holds.ts';
import { type JobDependencies, reconcileJobs } from '../src/reconcile/jobs.ts';
import type { RowPlace, Step, Walk } from '../src/reconcile/rows.ts';
import { pruneOperations } from '../src/suggestions/prune.ts';
import { pruneMemory, pruneTranslations } from '../src/translations/prune.ts';
import type { RunPlace } from '../src/webhooks/deliveries/read-open.ts';
import { emptyDeletedEndpoints } from '../src/webhooks/endpoints/empty.ts';
import { emptyDeletedWorkspaces } from '../src/workspaces/empty.ts';

/** How long a step of a walk goes on reading pages. */
const STEP_MS = 30_000;
/** Less than this is the time since prune began. */
const CLOCK_LEAD_MS = 3_600_000;

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

/** The activities of reconcile and `prune`. Each touches only rows unchanged for a while. */
export function createMaintenanceActivities(
  dependencies: Omit<JobDependencies, 'onError'> & {
    readonly retentionMs: number;
    readonly auditRetentionMs: number;
    readonly partitionMinutes: number;
    readonly blobs: BlobStore;
    readonly blobGraceMs: number;
    /** How long a deleted workspace can be restored. */
    readonly workspaceGraceMs: number;
    /** How long unused entries of the translation memory are kept. */
    readonly memoryMs: number;
    /** Called when a round has come to its end. */
    readonly onRound: (round: Round) => void;
    readonly countPrune: CountPrune;
  },
) {
  const { db, retentionMs, auditRetentionMs, partitionMinutes, blobs, blobGraceMs, memoryMs, onRound } =
    dependencies;
  const { workspaceGraceMs, countPrune } = dependencies;
  const onError = (id: string, error: unknown) => log.warn('left for the next round', { id, error });
  const watched = { ...dependencies, onError };
  const emptying = { db, onProgress: beat, onError };
  const older = (leadMs: number, ageMs = retentionMs) => ({ retentionMs: ageMs + leadMs, onProgress: beat });

  /** A step of a walk; an attempt after a lost one goes on where that one was. */
  async function step<Place, Done extends Step<Place>>(
    round: Round,
    from: Place | null,
    work: (walk: Walk<Place>) => Promise<Done>,
  ): Promise<Done> {
    const reached = activityInfo().heartbeatDetails as Place | null | undefined;
    const done = await work({
      from: reached ?? from,
      until: performance.now() + STEP_MS,
      onPlace: beat,
    });
    if (done.last === null) onRound(round);
    return done;
  }

  /** Working data of ended paid jobs, and entries of the translation memory unused for long. */
  async function pruneWorkingData(leadMs: number): Promise<{ jobs: number; segments: number }> {
    await pruneMemory(db, memoryMs + leadMs, beat);
    const generations = await pruneGenerations(db, older(leadMs));
    const { jobs, segments } = await pruneTranslations(db, older(leadMs));
    return { jobs: jobs + generations, segments };
  }

  async function pruneImages(leadMs: number): Promise<{ blobs: number }> {
    // An attempt after a lost one finds few: where that one was in the collection stays in its heartbeats.
    await pruneFormerBlobs(db, {
      retentionMs: blobGraceMs + leadMs,
      onProgress: () => beat(activityInfo().heartbeatDetails),
    });
    const removed = await collectBlobs(db, {
      blobs,
      graceMs: blobGraceMs + leadMs,
      signal: cancellationSignal(),
      from: activityInfo().heartbeatDetails as CollectPosition | undefined,
      onProgress: (position) => heartbeat(position),
    }).catch((error: unknown) => {
      throw ofTheStore(error) ?? error;
    });
    if (removed === null) log.warn('the image store contains no known image: nothing removed');
    return { blobs: removed ?? 0 };
  }

  return {
    reconcileJobs: (from: RowPlace | null) => step('jobs', from, (walk) => reconcileJobs(watched, walk)),
    reconcileOperations: (from: RowPlace | null) =>
      step('operations', from, (walk) => endAbandonedOperations(watched, walk)),
    reconcileHolds: (from: RowPlace | null) =>
      step('holds', from, (walk) => releaseStrandedHolds(watched, walk)),
    reconcileDeliveries: (from: RunPlace | null) =>
      step('deliveries', from, (walk) => reconcileDeliveries(watched, walk)),
    emptyDeletedEndpoints: async (): Promise<void> => {
      await emptyDeletedEndpoints(emptying);
      onRound('endpoints');
    },
    emptyDeletedWorkspaces: async (): Promise<void> => {
      await emptyDeletedProjects(emptying);
      await emptyDeletedWorkspaces({ ...emptying, graceMs: workspaceGraceMs });
      onRound('workspaces');
    },
    /** How far ahead of what this run of prune may believe the database's clock is. */
    advancePruneClock: async (): Promise<{ leadMs: number }> => {
      const leadMs = await advancePruneClock(db, activityInfo().workflowExecution?.runId ?? '');
      if (leadMs > CLOCK_LEAD_MS)
        log.error('the clock of the database is days ahead of the last prune', { leadMs });
      return { leadMs };
    },
    pruneWebhooks: (leadMs = 0) =>
      countPrune('events', rotatePartitions(db, { ...older(leadMs), partitionMinutes })),
    pruneJobsAndMemory: (leadMs = 0) => countPrune('working_data', pruneWorkingData(leadMs)),
    pruneAiOperations: async (leadMs = 0): Promise<{ aiOperations: number }> => ({
      aiOperations: await countPrune('ai_operations', pruneOperations(db, older(leadMs))),
    }),
    pruneRevisions: async (leadMs = 0): Promise<{ revisions: number }> => ({
      revisions: await countPrune('revisions', pruneRevisions(db, older(leadMs))),
    }),
    pruneAuditEntries: async (leadMs = 0): Promise<{ auditEntries: number }> => ({
      auditEntries: await countPrune('audit_entries', pruneAuditEntries(db, older(leadMs, auditRetentionMs))),
    }),
    pruneBlobs: (leadMs = 0) => countPrune('images', pruneImages(leadMs)),
  };
}

/** An error of the image store that an operator has to fix: the next nightly run is soon enough. */
function ofTheStore(error: unknown): ApplicationFailure | undefined {
  const isFinal = error instanceof BlobStoreError ? !error.retryable : isOfTheFolder(error);
  if (!isFinal) return undefined;
  log.error('cannot access the image store', { error });
  const [type, nonRetryable] = ['BlobStoreError', true] as const;
  return ApplicationFailure.create({ type, nonRetryable, message: storeMessage(error) });
}

const isOfTheFolder = (error: unknown): error is Error & { syscall: unknown } =>
  error instanceof Error && 'syscall' in error && errorKind(error) !== 'transient';

/** Without the paths that Node's messages have. */
const storeMessage = (error: unknown): string =>
  isOfTheFolder(error) ? `${errorCode(error)} at ${error.syscall}` : errorMessage(error);

/**
 * Between two batches: reports progress to Temporal, and stops when the worker stops or the run was cancelled. The next
 * attempt finds what is left.
 */
function beat(reached?: unknown): void {
  heartbeat(reached);
  if (cancellationSignal().aborted) throw new CancelledFailure('stopped between two batches');
}
