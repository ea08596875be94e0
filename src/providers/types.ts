/** The interface that every translation model and engine implements. */
import type { JobContext, Neighbours, TermPair } from '../document/translation/context.ts';
import type { SegmentKind } from '../document/translation/segments.ts';

export type {
  Formality,
  GlossaryTerm,
  JobContext,
  Neighbours,
  Style,
  TermPair,
} from '../document/translation/context.ts';

/** A text in the protected form of design.md §9, its id within the request, and what it is in its article. */
export interface TranslationText {
  readonly id: string;
  readonly text: string;
  readonly kind: SegmentKind;
}

/** An earlier answer that cannot be used, and why. */
export interface RepairNote {
  readonly id: string;
  /** The earlier answer; null when there was none. */
  readonly previous: string | null;
  /** What is wrong with it, in words a model understands. */
  readonly defects: readonly string[];
}

export interface TranslationRequest {
  /** Canonical language tags. */
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly segments: readonly TranslationText[];
  /** Aborts the call; the provider then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Present when the segments are asked for again. Engines that cannot use it ignore it. */
  readonly repair?: readonly RepairNote[];
  /** The article around the texts, and how to speak. Engines that cannot use it ignore it. */
  readonly context?: JobContext;
  /** Differs from request to request of a job. */
  readonly around?: Neighbours;
}

/** What a term list is drawn from. */
export interface TermsRequest {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  /** Without terms yet. */
  readonly context: JobContext;
  /** Texts of the article in reading order, without tags; a bounded number of characters. */
  readonly texts: readonly string[];
  /** Pairs that are used at most. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** A translation engine. Answers by segment id; ids may be missing, the texts are unchecked. */
export interface TranslationProvider {
  readonly name: string;
  /** False for an engine that cannot be told what is wrong: it is not asked again for what can be used. */
  readonly repairs?: boolean;
  /** Its model and the version of its prompt: what it made under another one is not its own work any more. */
  readonly edition?: string;
  /** @throws ProviderError, or the signal's reason. */
  translate(request: TranslationRequest): Promise<Map<string, string>>;
  /**
   * The article's recurring terms and one translation of each, unchecked. Only engines that can be told terms draw them.
   * @throws ProviderError, or the signal's reason.
   */
  terms?(request: TermsRequest): Promise<readonly TermPair[]>;
}

/**
 * retryable: may pass (rate limit, outage). misconfigured: the deployment's key, address or account is refused, which
 * affects every text of every tenant until an operator fixes it. fatal: will not pass. refused: the engine declines
 * this content.
 */
export type ProviderErrorKind = 'retryable' | 'misconfigured' | 'fatal' | 'refused';

/** Why a provider gave no usable answer. The message is fit for the person who asked: no secrets, no stack. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}
