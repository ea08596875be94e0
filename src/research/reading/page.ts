/** Pages as research reads them. */

/** By this name the owner of a site can forbid it in robots.txt. */
export const ROBOTS_TOKEN = 'workspace-content-research';

/** A page that was read. All texts are data of strangers. */
export interface Page {
  /** Where it was read, after redirects; without a fragment. */
  readonly url: string;
  /** One line, at most 300 code points; never empty. */
  readonly title: string;
  /** Its site's name, or its host. */
  readonly site: string;
  readonly publishedAt: Date | null;
  /** Readable text: paragraphs divided by an empty line, at most MAX_TEXT characters. */
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
  readonly fetchedAt: Date;
}

export const PAGE_REFUSALS = [
  'invalid address',
  'not a public address',
  'forbidden by robots.txt',
  'robots.txt unavailable',
  'no response',
  'error status',
  'too many redirects',
  'too large',
  'not HTML',
  'unknown encoding',
  'too deeply nested',
  'could not be parsed',
  'no readable text',
  'speaks to models',
] as const;
/** Why a page is not used. Names no address and quotes nothing, so it may be shown. */
export type PageRefusal = (typeof PAGE_REFUSALS)[number];

export type ReadOutcome =
  | { readonly ok: true; readonly page: Page }
  | { readonly ok: false; readonly url: string; readonly refusal: PageRefusal };

/**
 * Reads one page for a workspace (contract.md N5). What fails is an outcome: only the signal's reason is thrown, and an error of ours.
 */
export type ReadPage = (
  url: string,
  options: { readonly workspaceId: string; readonly signal: AbortSignal },
) => Promise<ReadOutcome>;

/** Characters of a text that are kept. */
export const MAX_TEXT = 100_000;
