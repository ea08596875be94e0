import { ServiceError } from '../errors.ts';
import { readTags, requireTag } from '../http/etag.ts';
import type { ArticleRow } from './queries.ts';

/**
 * Refuses a save based on another version than the stored one. Only the version in an article's tag is compared, since a
 * save does not replace link addresses. Without the header, or with `*`, any version matches.
 * @throws {ServiceError} PRECONDITION_FAILED; INVALID_REQUEST for a header that is not a list of tags
 */
export function requireMatch(ifMatch: string | undefined, { version }: Pick<ArticleRow, 'version'>): void {
  if (ifMatch === undefined) return;
  requireTag(ifMatch, 'article', (tag) => /^"(\d+)\.\d+[-"]/.exec(tag)?.[1] === String(version));
}

/** The tag of what a reviewer reads: title, document, meta texts, keywords and images (contract.md R18). */
export const contentTag = ({ content_version }: Pick<ArticleRow, 'content_version'>): string =>
  `"content-${content_version}"`;

/** 412 for a decision about another content than the present one. */
export const contentMoved = (): ServiceError =>
  new ServiceError(
    'PRECONDITION_FAILED',
    'The content has changed since you read it. Read the article again and decide about what it is now.',
  );

/**
 * The content versions that an If-Match header names by their tags; null when any will do.
 * @throws {ServiceError} INVALID_REQUEST for a header that is not a list of tags
 */
export function namedContent(ifMatch: string | undefined): readonly number[] | null {
  const tags = ifMatch === undefined ? '*' : readTags(ifMatch, 'the contentTag of the article you read');
  if (tags === '*') return null;
  return tags.flatMap((tag) => {
    const version = /^"content-(\d{1,9})"$/.exec(tag)?.[1];
    return version === undefined ? [] : Number(version);
  });
}
