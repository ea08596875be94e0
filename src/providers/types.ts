/** The interface that every translation model and engine implements. */
import type { SegmentKind } from '../document/translation/segments.ts';

/** A text in the protected form of design.md §9, its id within the request, and what it is in its article. */
export interface TranslationText {
  readonly id: string;
  readonly text: string;
  readonly kind: SegmentKind;
}

export type Formality = 'formal' | 'informal';

/** How a project wants to sound in a language. */
export interface Style {
  readonly formality: Formality | null;
  readonly instructions: string | null;
}

/** A term of a workspace's glossary. */
export interface GlossaryTerm {
  readonly source: string;
  /** Null for a term that stays as it is. */
  readonly target: string | null;
  readonly caseSensitive: boolean;
}

/** A term of one article and its one translation. */
export interface TermPair {
  readonly source: string;
  readonly target: string;
}

/** What a model is told beside the texts: byte for byte the same in every call of a job. All of it is data, never instruction. */
export interface JobContext {
  readonly title: string;
  /** The headings in order. */
  readonly outline: readonly string[];
  readonly terms: readonly TermPair[];
  /** Those that occur in the article. */
  readonly glossary: readonly GlossaryTerm[];
  readonly style: Style | null;
}

/** What stands before and after the texts of a request, as plain text; empty at the article's ends. */
export interface Neighbours {
  readonly before: string;
  readonly after: string;
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
  readonly signal: AbortSignal;
}

/** A translation engine. Answers by segment id; ids may be missing, the texts are unchecked. */
export interface TranslationProvider {
  readonly name: string;
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
