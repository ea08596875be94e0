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

/** A text in the protected form of design.md §9, with its id in the request and its kind. */
export interface TranslationText {
  readonly id: string;
  readonly text: string;
  readonly kind: SegmentKind;
}

/** An earlier translation to repair, with its defects. */
export interface RepairNote {
  readonly id: string;
  /** The earlier translation; null when there was none. */
  readonly previous: string | null;
  /** What is wrong with it, worded for a model. */
  readonly defects: readonly string[];
}

export interface TranslationRequest {
  /** Canonical language tags. */
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly segments: readonly TranslationText[];
  /** Aborts the call; the provider then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Present for a repair. Engines that cannot use it ignore it. */
  readonly repair?: readonly RepairNote[];
  /** The article around the texts, and the style. Engines that cannot use it ignore it. */
  readonly context?: JobContext;
  /** Differs from request to request of a job. */
  readonly around?: Neighbours;
}

/** The input for a term list. */
export interface TermsRequest {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  /** Has no terms yet. */
  readonly context: JobContext;
  /** Texts of the article in reading order, without tags; a bounded number of characters. */
  readonly texts: readonly string[];
  /** The most pairs that are used. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** A translation engine. It returns texts by segment id; ids may be missing, texts are unchecked. */
export interface TranslationProvider {
  readonly name: string;
  /** False for an engine that takes no corrections: its usable translations are not repaired. */
  readonly repairs?: boolean;
  /** Its model and prompt version; the translation memory does not reuse texts of another edition. */
  readonly edition?: string;
  /** @throws ProviderError, or the signal's reason. */
  translate(request: TranslationRequest): Promise<Map<string, string>>;
  /**
   * The article's recurring terms and one translation of each, unchecked. Only for engines that can use terms.
   * @throws ProviderError, or the signal's reason.
   */
  terms?(request: TermsRequest): Promise<readonly TermPair[]>;
}

/**
 * retryable: temporary (rate limit, outage). misconfigured: the deployment's key, address or account is refused, which
 * affects every tenant until an operator fixes it. fatal: permanent. refused: the engine declines this content.
 */
export type ProviderErrorKind = 'retryable' | 'misconfigured' | 'fatal' | 'refused';

/** Why a provider gave no usable response. The message may be shown to clients: no secrets, no stack. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  /** The provider's Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** True when the engine limits the rate (429). */
  readonly limited: boolean;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: { retryAfterMs?: number; limited?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.limited = options.limited ?? false;
  }
}
