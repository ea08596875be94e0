import { hash } from 'node:crypto';
import { invalid, ServiceError } from '../errors.ts';

/** The strong entity tag of what is sent as this JSON (RFC 9110, 8.8.3). */
export const etagOfJson = (json: string): string => `"${hash('sha256', json, 'base64url').slice(0, 27)}"`;

/** Characters of an If-Match header: some tens of tags. */
export const MAX_IF_MATCH = 2_048;

/** What stands between the commas of a list; a tag may have commas itself. */
const ELEMENTS = /(?:[^,"]|"[^"]*"?)+/g;
const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/**
 * The If-Match header of a change that has to name the state it is based on.
 * @param what the resource's name in the message
 * @throws {ServiceError} INVALID_REQUEST without the header, or with `*`
 */
export function requireIfMatch(ifMatch: string | undefined, what: string): string {
  if (ifMatch === undefined || ifMatch.trim() === '*') {
    throw invalid('header/If-Match', `Send the ETag of the ${what} you read.`);
  }
  return ifMatch;
}

/**
 * Refuses an If-Match header without a current tag.
 * @param what the resource's name in the message
 */
export function requireTag(ifMatch: string, what: string, isCurrent: (tag: string) => boolean): void {
  const tags = readTags(ifMatch, `the ETag of the ${what} you read`);
  if (tags === '*' || tags.some(isCurrent)) return;
  throw new ServiceError(
    'PRECONDITION_FAILED',
    `The ${what} has changed since you read it. Read it again and apply your change to that version.`,
  );
}

/**
 * The tags of an If-Match header that can match: a weak one never does (RFC 9110, 13.1.1).
 * @param wanted what to send, for the message
 * @throws {ServiceError} INVALID_REQUEST for a header that is not a list of tags
 */
export function readTags(ifMatch: string, wanted: string): readonly string[] | '*' {
  if (ifMatch.trim() === '*') return '*';
  const elements = ifMatch.length > MAX_IF_MATCH ? null : ifMatch.match(ELEMENTS);
  const tags = (elements ?? []).map((tag) => tag.trim()).filter((tag) => tag !== '');
  if (tags.length === 0 || !tags.every((tag) => TAG.test(tag))) {
    throw new ServiceError('INVALID_REQUEST', 'If-Match is not a list of entity tags.', {
      issues: [{ pointer: 'header/If-Match', detail: `Send ${wanted}, unchanged.` }],
    });
  }
  return tags.filter((tag) => !tag.startsWith('W/'));
}
