import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { pruneRevisions } from '../src/articles/revisions/prune.ts';
import type { BlobStore } from '../src/blobs/blob-store.ts';
import { type CollectPosition, collectBlobs } from '../src/blobs/collect.ts';
import { errorKind } from '../src/db/error-kind.ts';
import { rotatePartitions } from '../src/db/partitions.ts';
import { errorCode } from '../src/error-text.ts';
import { pruneGenerations } from '../src/generation/prune.ts';
import { emptyDeletedProjects } from '../src/projects/empty.ts';
import { endAbandonedOperations } from '../src/reconcile/ai-operations.ts';
import { reconcileDeliveries } from '../src/reconcile/deliveries.ts';
import { type ReconcileDependencies, reconcileJobs, releaseStrandedHolds } from '../src/reconcile/jobs.ts';
import { pruneOperations } from '../src/suggestions/prune.ts';
import { pruneMemory, pruneTranslations } from '../src/translations/prune.ts';
import { emptyDeletedEndpoints } from '../src/webhooks/endpoints/empty.ts';
import { emptyDeletedWorkspaces } from '../src/workspaces/empty.ts';

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

/** The activities of `reconcile` and `prune`. Each touches only rows unchanged for a while. */
export function createMaintenanceActivities(
  dependencies: Omit<ReconcileDependencies, 'onProgress' | 'onError'> & {
    readonly retentionMs: number;
    readonly partitionMinutes: number;
    readonly blobs: BlobStore;
    readonly blobGraceMs: number;
    /** How long a deleted workspace can be restored. */
    readonly workspaceGraceMs: number;
    /** How long unused entries of the translation memory are kept. */
    readonly memoryMs: number;
  },
) {
  const { db, retentionMs, partitionMinutes, blobs, blobGraceMs, workspaceGraceMs, memoryMs } = dependencies;
  const retention = { retentionMs, onProgress: beat };
  const watched: ReconcileDependencies = {
    ...dependencies,
    onProgress: beat,
    onError: (id, error) => log.warn('left for the next round', { id, error }),
  };
  return {
    reconcileJobs: (): Promise<{ started: number; ended: number }> => reconcileJobs(watched),
    reconcileHolds: async (): Promise<{ released: number }> => ({
      released: (await endAbandonedOperations(watched)) + (await releaseStrandedHolds(watched)),
    }),
    reconcileDeliveries: (): Promise<{ returned: number; ended: number }> => reconcileDeliveries(watched),
    emptyDeleted: async (): Promise<void> => {
      await emptyDeletedEndpoints(watched);
      await emptyDeletedProjects(watched);
      await emptyDeletedWorkspaces({ ...watched, graceMs: workspaceGraceMs });
    },
    pruneWebhooks: () => rotatePartitions(db, { ...retention, partitionMinutes }),
    // Working data of ended paid jobs, and entries of the translation memory unused for long.
    pruneJobsAndMemory: async (): Promise<{ jobs: number; segments: number }> => {
      await pruneMemory(db, memoryMs, beat);
      const generations = await pruneGenerations(db, retention);
      const { jobs, segments } = await pruneTranslations(db, retention);
      return { jobs: jobs + generations, segments };
    },
    pruneAiOperations: async (): Promise<{ aiOperations: number }> => ({
      aiOperations: await pruneOperations(db, retention),
    }),
    pruneRevisions: async (): Promise<{ revisions: number }> => ({
      revisions: await pruneRevisions(db, retention),
    }),
    pruneBlobs: async (): Promise<{ blobs: number }> => {
      const removed = await collectBlobs(db, {
        blobs,
        graceMs: blobGraceMs,
        signal: cancellationSignal(),
        from: activityInfo().heartbeatDetails as CollectPosition | undefined,
        onProgress: (position) => heartbeat(position),
      }).catch((error: unknown) => {
        throw ofTheFolder(error) ?? error;
      });
      if (removed === null) log.warn('the image folder contains no known image: nothing removed');
      return { blobs: removed ?? 0 };
    },
  };
}

/** An error of the image folder, which an operator has to fix: the next nightly run is soon enough. */
function ofTheFolder(error: unknown): ApplicationFailure | undefined {
  if (!(error instanceof Error && 'syscall' in error) || errorKind(error) === 'transient') return undefined;
  log.error('cannot access the image folder', { error });
  return ApplicationFailure.create({
    type: 'BlobFolderError',
    message: `${errorCode(error)} at ${error.syscall}`,
    nonRetryable: true,
  });
}

/**
 * Between two batches: reports progress to Temporal, and stops when the worker stops or the run was cancelled. The next
 * attempt finds what is left.
 */
function beat(looked?: number): void {
  heartbeat(looked);
  if (cancellationSignal().aborted) throw new CancelledFailure('stopped between two batches');
}
