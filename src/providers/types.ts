/** The interface that every translation model and engine implements. */

/** A text in the protected form of design.md §9 and its id within the request. */
export interface TranslationText {
  readonly id: string;
  readonly text: string;
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
}

/** A translation engine. Answers by segment id; ids may be missing, the texts are unchecked. */
export interface TranslationProvider {
  readonly name: string;
  /** @throws ProviderError, or the signal's reason. */
  translate(request: TranslationRequest): Promise<Map<string, string>>;
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
