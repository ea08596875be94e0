/** The interface that every translation model and engine implements. */
import type {
  InVersion,
  JobContext,
  Neighbours,
  Placeholders,
  TranslatedFields,
} from '../document/translation/context.ts';
import type { SegmentKind } from '../document/translation/segments.ts';
import type { StyleSheet } from '../document/translation/style-sheet.ts';

export type {
  Formality,
  GlossaryTerm,
  InVersion,
  JobContext,
  Neighbours,
  Placeholders,
  Style,
  TermPair,
  TranslatedFields,
} from '../document/translation/context.ts';

/** A text in the protected form of design.md §9, with its id in the request and its kind. */
export interface TranslationText {
  readonly id: string;
  readonly text: string;
  readonly kind: SegmentKind;
  /** What its empty tags stand for, by tag id. Engines that cannot use it ignore it. */
  readonly placeholders?: Placeholders;
  /** What the version has in its place: for engines that go by it. */
  readonly inVersion?: InVersion;
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
  /** The same in all requests for the body of an article. */
  readonly translated?: TranslatedFields;
  /** Differs from request to request of a job. */
  readonly around?: Neighbours;
}

/** The input for a style sheet. */
export interface StyleSheetRequest {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  /** With the sheet of earlier jobs, if the version has one: it stays, and only terms are added. */
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
  /** True for an engine that takes over the wording of a version that is refreshed. */
  readonly goesByVersion?: boolean;
  /** Its model and prompt version; the translation memory does not reuse texts of another edition. */
  readonly edition?: string;
  /** @throws ProviderError, or the signal's reason. */
  translate(request: TranslationRequest): Promise<Map<string, string>>;
  /**
   * Draws a style sheet: decisions that the language can have, and the article's recurring terms, unchecked. Only for
   * engines that can use one.
   * @throws ProviderError, or the signal's reason.
   */
  styleSheet?(request: StyleSheetRequest): Promise<StyleSheet>;
}

/**
 * The engine is away: `retryable`, for a moment (rate limit, outage); `unavailable`, for longer than a run waits;
 * `misconfigured`, until an operator mends the deployment's key, address or account. These texts are the cause:
 * `fatal`, the engine does not accept the request; `refused`, it declines this content; `unusable`, no response could be
 * used.
 */
export type ProviderErrorKind =
  | 'retryable'
  | 'unavailable'
  | 'misconfigured'
  | 'fatal'
  | 'refused'
  | 'unusable';

/** Why a provider gave no usable response. The message may be shown to clients: no secrets, no stack. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  /** The provider's Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** True when the request was written and no whole response came: the provider may charge for the call. */
  readonly unanswered: boolean;
  /** True when the engine limits the rate (429). */
  readonly limited: boolean;
  /** Kinds of defects of the last response that could not be used. */
  readonly defects: readonly string[];

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: {
      retryAfterMs?: number;
      limited?: boolean;
      unanswered?: boolean;
      defects?: readonly string[];
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.unanswered = options.unanswered ?? false;
    this.limited = options.limited ?? false;
    this.defects = options.defects ?? [];
  }
}

/** True when a model responded, and nothing of it could be used. */
export const isUnusable = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.kind === 'unusable' || error.kind === 'refused');
