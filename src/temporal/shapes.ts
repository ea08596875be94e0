import type { AiOperationId, BurstId, DeliveryId, JobId } from '../ids.ts';

/** Arguments and results of workflows and activities: ids, counts and outcomes; never content or a secret. */
export interface TranslationRunInput {
  readonly jobId: JobId;
}

/** How a run that translates in batches ended. */
export interface TranslationRunResult {
  readonly outcome: 'settled' | 'already ended';
  readonly batches?: number;
}

/** What a planned run has to request. */
export interface PlannedRun {
  readonly batches: number;
  /** A style sheet is drawn before the batches. */
  readonly drawSheet?: true;
  /** Batch 0 has the title, meta texts and keywords, and ends before the others begin. */
  readonly fieldsFirst?: true;
}

export interface GenerationRunInput {
  readonly jobId: JobId;
}

/** How a generation ended, and how many sections it wrote; none in a run that stops after the outline. */
export interface GenerationRunResult {
  readonly outcome: 'settled' | 'already ended';
  readonly sections?: number;
}

export interface ImageRunInput {
  readonly jobId: JobId;
}

/** `changed`: a person had replaced or deleted the image, and its job has failed. */
export type Replacement = 'settled' | 'already ended' | 'changed';

/** How the regeneration of an image ended. */
export interface ImageRunResult {
  readonly outcome: Replacement;
}

/**
 * What made a run fail: its texts (the engine worked, and nothing usable came of it or it declined them), an engine that
 * was away or refused us, or this service.
 */
export type FailureCause = 'texts' | 'engine' | 'service';

/** Whether a run may begin: `ahead` others of its workspace come first. `refused`: its job has failed at its turn. */
export type Turn =
  | { readonly outcome: 'taken' | 'ended' | 'refused' }
  | { readonly outcome: 'wait'; readonly ahead: number };

/** Batches of one job in flight at the engine. */
export const PARALLEL_BATCHES = 4;

/** The signal that tells a run that waits for its turn that one may be free. */
export const TURN_FREED = 'turnFreed';

export interface DeliverWebhookInput {
  readonly deliveryId: DeliveryId;
  /** Attempts made by earlier runs; the first attempt of this run has the next number. */
  readonly offset: number;
}

export type AttemptNote = 'redirected to http';

/** What one attempt came to, as it is recorded; in a history only when the database could not be told. */
export interface AttemptRecord {
  readonly number: number;
  /** What the attempt began with. */
  readonly token: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly verdict: 'succeeded' | 'retry' | 'failed';
  readonly responseStatus: number | null;
  readonly errorMessage: string | null;
  readonly responseBody: string | null;
  /** Something else to know of it. */
  readonly note?: AttemptNote;
}

export type AttemptResult =
  | { readonly kind: 'recorded'; readonly number: number }
  | { readonly kind: 'unrecorded'; readonly outcome: AttemptRecord }
  | { readonly kind: 'stopped'; readonly reason: string }
  /**
   * Not sent and not spent: the endpoint is paused, the workspace is deleted or suspended, or the endpoint's secret cannot be read. `attempts` were
   * made before.
   */
  | { readonly kind: 'held'; readonly attempts: number };

export interface DeliverWebhookResult {
  readonly outcome: 'delivered' | 'stopped';
  readonly attempts?: number;
  readonly reason?: string;
}

export interface DeliverBurstInput {
  readonly burstId: BurstId;
}

/** What became of the attempts of a burst. */
export interface DeliverBurstResult {
  readonly succeeded: number;
  /** Free again, to be tried again when their wait is over. */
  readonly toRetry: number;
  readonly failed: number;
  /** Sent nothing: the delivery had ended, or was somebody else's by then. */
  readonly stopped: number;
  /**
   * Free again without an outcome: after a lost worker, when an operator stopped the burst, or since the secret can't be
   * read.
   */
  readonly freed: number;
}

export interface AiOperationInput {
  readonly operationId: AiOperationId;
}

/** What asking came to: `ended` when the operation's hold was open no longer. */
export type AskResult =
  | { readonly kind: 'answered'; readonly suggestions: number }
  | { readonly kind: 'ended' };

export interface AiOperationResult {
  readonly outcome: 'settled' | 'released' | 'already ended';
  readonly suggestions: number;
}

/** What a round of reconcile found: how many, by what became of them. */
export type ReconcileResult = Readonly<Record<string, number>>;

export interface PruneResult {
  readonly events: number;
  readonly deliveries: number;
  readonly jobs: number;
  readonly segments: number;
  readonly aiOperations: number;
  readonly revisions: number;
  readonly blobs: number;
  readonly auditEntries: number;
}

/** The workflows that an area starts, by the name of their type. `workflows/` keeps to these shapes. */
export interface StartedWorkflows {
  readonly translateArticle: (input: TranslationRunInput) => Promise<TranslationRunResult>;
  readonly refreshTranslation: (input: TranslationRunInput) => Promise<TranslationRunResult>;
  readonly generateArticle: (input: GenerationRunInput) => Promise<GenerationRunResult>;
  readonly regenerateImage: (input: ImageRunInput) => Promise<ImageRunResult>;
  readonly deliverWebhook: (input: DeliverWebhookInput) => Promise<DeliverWebhookResult>;
  readonly deliverBurst: (input: DeliverBurstInput) => Promise<DeliverBurstResult>;
  readonly aiOperation: (input: AiOperationInput) => Promise<AiOperationResult>;
}
