import { hash } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { ArticleRow } from './queries.ts';

/** The strong entity tag of what is sent as this JSON (RFC 9110, 8.8.3). */
export const etagOfJson = (json: string): string => `"${hash('sha256', json, 'base64url').slice(0, 27)}"`;

/** Characters of an If-Match header: some tens of tags. */
export const MAX_IF_MATCH = 2_048;

/** What stands between the commas of a list; a tag may have commas itself. */
const ELEMENTS = /(?:[^,"]|"[^"]*"?)+/g;
const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/**
 * Refuses a save based on another version than the stored one. Only the version in an article's tag is compared, since a
 * save does not replace link addresses. Without the header, or with `*`, any version matches.
 * @throws {ServiceError} PRECONDITION_FAILED; INVALID_REQUEST for a header that is not a list of tags
 */
export function requireMatch(ifMatch: string | undefined, { version }: Pick<ArticleRow, 'version'>): void {
  if (ifMatch === undefined) return;
  requireTag(ifMatch, 'article', (tag) => /^"(\d+)\.\d+[-"]/.exec(tag)?.[1] === String(version));
}

/**
 * Refuses an If-Match header without a current tag.
 * @param what the resource's name in the message
 */
export function requireTag(ifMatch: string, what: string, isCurrent: (tag: string) => boolean): void {
  if (ifMatch.trim() === '*') return;
  const elements = ifMatch.length > MAX_IF_MATCH ? null : ifMatch.match(ELEMENTS);
  const tags = (elements ?? []).map((tag) => tag.trim()).filter((tag) => tag !== '');
  if (tags.length === 0 || !tags.every((tag) => TAG.test(tag))) {
    throw new ServiceError('INVALID_REQUEST', 'If-Match is not a list of entity tags.', {
      issues: [{ pointer: 'header/If-Match', detail: `Send the ETag of the ${what} you read, unchanged.` }],
    });
  }
  // A weak tag never matches here (RFC 9110, 13.1.1).
  if (tags.some((tag) => !tag.startsWith('W/') && isCurrent(tag))) return;
  throw new ServiceError(
    'PRECONDITION_FAILED',
    `The ${what} has changed since you read it. Read it again and apply your change to that version.`,
  );
}
