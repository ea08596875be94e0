/** What one run may do for research and for checking claims (contract.md N4). */

/** Searches and pages of one purpose. */
export interface ResearchBounds {
  readonly searches: number;
  readonly pages: number;
  readonly pagesOfSite: number;
}

export const RESEARCH_BOUNDS: ResearchBounds = { searches: 15, pages: 12, pagesOfSite: 2 };
export const CLAIM_BOUNDS: ResearchBounds = { searches: 20, pages: 20, pagesOfSite: 2 };
/** Sources of one article. */
export const MAX_SOURCES = RESEARCH_BOUNDS.pages + CLAIM_BOUNDS.pages;
/** Claims of one article. */
export const MAX_CLAIMS = 20;
/** Notes of one page, and of an article. */
export const MAX_NOTES_OF_SOURCE = 8;
export const MAX_NOTES = 60;
/** Words of a quote. */
export const MAX_QUOTE_WORDS = 40;
/** Sources with so many read pages, and one note handed on, have delivered. */
export const SOURCES_DELIVERED = 3;
