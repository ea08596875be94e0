/** Bytes of a request body with an article. */
export const ARTICLE_BODY_BYTES = 1024 * 1024;
/** Characters a title may have. */
export const MAX_TITLE = 300;
/** Characters of a slug. */
export const MAX_SLUG = 120;
/** Characters of a metaTitle and of a metaDescription. */
export const MAX_META_TITLE = 70;
export const MAX_META_DESCRIPTION = 200;
/** Keywords of one kind, and characters of each. */
export const MAX_KEYWORDS = 100;
export const MAX_KEYWORD = 200;
/** Links to articles in all blocks of one document. */
export const MAX_DOCUMENT_LINKS = 1_000;
/** Images in all blocks of one document. Each may show a long text of its asset. */
export const MAX_DOCUMENT_IMAGES = 1_000;
