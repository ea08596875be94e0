import type { AiOperationId, BurstId, DeliveryId, JobId } from '../ids.ts';

/** Arguments and results of workflows and activities: ids, counts and outcomes; never content or a secret. */
export interface TranslateArticleInput {
  readonly jobId: JobId;
}

export interface TranslateArticleResult {
  readonly outcome: 'settled' | 'already ended';
  readonly batches?: number;
}

export interface DeliverWebhookInput {
  readonly deliveryId: DeliveryId;
  /** Attempts made by earlier runs; the first attempt of this run has the next number. */
  readonly offset: number;
}

/** The outcome of one attempt that could not be recorded in the database. */
export interface AttemptOutcome {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly verdict: 'succeeded' | 'retry' | 'failed';
  readonly responseStatus: number | null;
  readonly errorMessage: string | null;
  readonly responseBody: string | null;
}

export type AttemptResult =
  | { readonly kind: 'recorded'; readonly number: number }
  | { readonly kind: 'unrecorded'; readonly outcome: AttemptOutcome }
  | { readonly kind: 'stopped'; readonly reason: string };

export interface DeliverWebhookResult {
  readonly outcome: 'delivered' | 'stopped';
  readonly attempts?: number;
  readonly reason?: string;
}

export interface DeliverBurstInput {
  readonly burstId: BurstId;
}

/** Whether a burst may send: not when it is run anew after an operator's reset, beside what the first left open. */
export type BurstMode = 'send' | 'hand back';

/** What became of the first attempts of a burst, in numbers of deliveries. */
export interface DeliverBurstResult {
  readonly succeeded: number;
  /** In the outbox again, each to become a run of its own at attempt 2. */
  readonly toRetry: number;
  readonly failed: number;
  /** Ended without an attempt: their endpoint was disabled or deleted. */
  readonly stopped: number;
  /** In the outbox again unsent, or after a lost worker with an attempt that it had begun. */
  readonly handedBack: number;
}

export interface AiOperationInput {
  readonly operationId: AiOperationId;
}

/** The outcome of asking: `ended` when the operation's hold was no longer open. */
export type AskResult =
  | { readonly kind: 'answered'; readonly suggestions: number }
  | { readonly kind: 'ended' };

export interface AiOperationResult {
  readonly outcome: 'settled' | 'released' | 'already ended';
  readonly suggestions: number;
}

export interface ReconcileResult {
  readonly jobsStarted: number;
  readonly jobsEnded: number;
  readonly holdsReleased: number;
  readonly deliveriesReturned: number;
  readonly deliveriesEnded: number;
}

export interface PruneResult {
  readonly events: number;
  readonly deliveries: number;
  readonly jobs: number;
  readonly segments: number;
  readonly aiOperations: number;
  readonly blobs: number;
}

/** The workflows that an area starts, by the name of their type. `workflows/` keeps to these shapes. */
export interface StartedWorkflows {
  readonly translateArticle: (input: TranslateArticleInput) => Promise<TranslateArticleResult>;
  readonly deliverWebhook: (input: DeliverWebhookInput) => Promise<DeliverWebhookResult>;
  readonly deliverBurst: (input: DeliverBurstInput) => Promise<DeliverBurstResult>;
  readonly aiOperation: (input: AiOperationInput) => Promise<AiOperationResult>;
}
