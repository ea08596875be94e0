import sax from 'sax';
import { S3Failure } from './failure.ts';

/** A page of ListObjectsV2. */
export interface ObjectPage {
  readonly keys: readonly string[];
  /** Names the next page; undefined on the last one. */
  readonly next: string | undefined;
}

/** Bytes of a page: a thousand keys of 70 characters and what S3 says of each take half a megabyte. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Nested elements; a page has three levels. */
const MAX_DEPTH = 16;

const unreadable = (cause?: unknown): S3Failure =>
  new S3Failure('The image store sent a list that is not one of S3.', { retryable: true, cause });

/**
 * Reads a page of ListObjectsV2. A document type, which could define entities, is refused.
 * @throws {S3Failure} for anything else
 */
export function parseObjectPage(xml: string): ObjectPage {
  const parser = sax.parser(true);
  const path: string[] = [];
  const keys: string[] = [];
  let text = '';
  let truncated: string | undefined;
  let next: string | undefined;
  const fail = (error: unknown): never => {
    throw unreadable(error);
  };
  parser.onerror = fail;
  parser.ondoctype = fail;
  parser.onopentag = ({ name }) => {
    path.push(name);
    if (path.length > MAX_DEPTH) fail('too deep');
    text = '';
  };
  parser.ontext = parser.oncdata = (part) => {
    text += part;
  };
  parser.onclosetag = () => {
    const at = path.join('/');
    if (at === 'ListBucketResult/Contents/Key') keys.push(text);
    else if (at === 'ListBucketResult/IsTruncated') truncated = text;
    else if (at === 'ListBucketResult/NextContinuationToken') next = text;
    path.pop();
    text = '';
  };
  parser.write(xml).close();
  // Without this element there may be more pages, and the blobs on them would pass for removed.
  if (truncated !== 'true' && truncated !== 'false') throw unreadable();
  if (truncated === 'true' && (next === undefined || next === '')) throw unreadable();
  return { keys, next: truncated === 'true' ? next : undefined };
}
