import { hash } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import { writeJson } from '../json-text.ts';
import type { ArticleResponse } from './schemas.ts';

/**
 * The strong entity tag of an article as sent (RFC 9110, 8.8.3). It is made from the response's own
 * content, so any change of the article, by an editor, a job or a re-render, changes its tag.
 */
const etagOf = (article: ArticleResponse): string => etagOfJson(writeJson(article));

/** The same for an article already written as JSON. */
export const etagOfJson = (json: string): string => `"${hash('sha256', json, 'base64url').slice(0, 27)}"`;

/** Characters of an If-Match header: some tens of tags. */
export const MAX_IF_MATCH = 2_048;

const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/**
 * Refuses a save based on another version than the stored one. Without the header, or with `*`,
 * any version is fine.
 * @throws {ServiceError} PRECONDITION_FAILED; INVALID_REQUEST for a header that is not a list of tags
 */
export function requireMatch(ifMatch: string | undefined, article: ArticleResponse): void {
  if (ifMatch !== undefined) requireTag(ifMatch, 'article', () => etagOf(article));
}

/**
 * The same for what has the tag of `tag`.
 * @param what it is, in words
 */
export function requireTag(ifMatch: string, what: string, tag: () => string): void {
  if (ifMatch.trim() === '*') return;
  const tags = ifMatch.length > MAX_IF_MATCH ? [] : ifMatch.split(',').map((tag) => tag.trim());
  if (tags.length === 0 || !tags.every((tag) => TAG.test(tag))) {
    throw new ServiceError('INVALID_REQUEST', 'If-Match is not a list of entity tags.', {
      issues: [{ pointer: 'header/If-Match', detail: `Send the ETag of the ${what} you read, unchanged.` }],
    });
  }
  // A weak tag never matches here (RFC 9110, 13.1.1).
  if (tags.includes(tag())) return;
  throw new ServiceError(
    'PRECONDITION_FAILED',
    `The ${what} has changed since you read it. Read it again and apply your change to that version.`,
  );
}
