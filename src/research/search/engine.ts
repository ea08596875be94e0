/** The interface of search engines. */

/** One thing that a search found. Texts are data of strangers: one line each, bounded, without control characters. */
export interface SearchResult {
  /** http or https, as the engine gave it. */
  readonly url: string;
  readonly title: string;
  readonly snippet: string;
  readonly publishedAt: Date | null;
}

/** A search engine. An empty list means that it looked and found nothing (contract.md N2). */
export interface SearchEngine {
  readonly name: string;
  /**
   * @returns at most MAX_RESULTS, best first
   * @throws {ProviderError} retryable when the engine could not look, misconfigured with a text for operators; the
   *   signal's reason when aborted
   */
  search(query: string, signal: AbortSignal): Promise<readonly SearchResult[]>;
}

export const MAX_RESULTS = 10;
/** Code points of a query, and of the texts of a result. */
export const MAX_QUERY = 300;
export const MAX_TITLE = 300;
export const MAX_SNIPPET = 500;
