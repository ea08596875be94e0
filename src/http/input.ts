import { z } from 'zod';
import { type FieldIssue, invalid, MAX_ISSUES, ServiceError } from '../errors.ts';
import { timed } from '../threads/timed.ts';
import { loopTurn } from '../threads/turns.ts';
import { hasUnsafeCharacters, pointerTo, readJson } from './json.ts';

/** JSON bodies above this many bytes take a turn on the event loop: parsing and checking them takes up to some milliseconds. */
const TURN_BYTES = 8 * 1024;

/** A request body that is a file, not JSON. */
export interface Upload {
  /** Accepted content types, such as `image/png`. */
  readonly mediaTypes: readonly string[];
  /** Maximum bytes; the limit of JSON bodies does not apply. */
  readonly maxBytes: number;
}

/** A body: its headers, and its bytes on demand. */
export interface BodySource {
  readonly headers: Headers;
  /**
   * The whole body, empty when none was sent.
   * @throws {ServiceError} PAYLOAD_TOO_LARGE
   */
  readonly read: () => Promise<Uint8Array>;
  /** Ends the turn of a large body, once it is parsed and checked. */
  readonly checked: () => void;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

type RawIssue = z.core.$ZodRawIssue;

/** Removes null properties that the schema refused; false when there was none. */
function dropRefusedNulls(root: unknown, issues: readonly RawIssue[]): boolean {
  let dropped = false;
  for (const { path = [] } of issues) {
    const key = path.at(-1);
    const parent = valueAt(root, path.slice(0, -1));
    if (key === undefined || typeof parent !== 'object' || parent === null || Array.isArray(parent)) continue;
    const holder = parent as Record<PropertyKey, unknown>;
    if (holder[key] !== null) continue;
    delete holder[key];
    dropped = true;
  }
  return dropped;
}

const describe = (issue: z.core.$ZodIssue, root: unknown): string => {
  const missing = issue.path.length > 0 && valueAt(root, issue.path) === undefined;
  const detail = missing ? 'Required.' : issue.message.replace(/^Invalid (?:input|option): e/, 'E');
  return detail.endsWith('.') ? detail : `${detail}.`;
};

type Checked<Output> = { issues: readonly RawIssue[]; value: Output };

/**
 * The schema's result for the value. safeParse would word every issue, even the 100,000th; these are worded only where
 * they are returned.
 */
function check<Schema extends z.ZodType>(schema: Schema, value: unknown): Checked<z.output<Schema>> {
  const result = schema._zod.run({ value, issues: [] }, { async: false });
  if (result instanceof Promise) throw new z.core.$ZodAsyncError();
  return { issues: result.issues, value: result.value as z.output<Schema> };
}

/** The same for a schema with asynchronous checks; slower. */
async function checkAsync<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Promise<Checked<z.output<Schema>>> {
  const result = await schema._zod.run({ value, issues: [] }, { async: true });
  return { issues: result.issues, value: result.value as z.output<Schema> };
}

type Pointer = (path: readonly PropertyKey[]) => string;

/**
 * The value as the schema's output. Null for an optional field means absent (contract.md A12): a null the
 * schema refuses is removed and the value checked again.
 * @throws {ServiceError} INVALID_REQUEST naming the first MAX_ISSUES bad fields, with the number of the others
 */
function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  pointer: Pointer,
): z.output<Schema> {
  let result = check(schema, value);
  if (result.issues.length > 0 && dropRefusedNulls(value, result.issues)) result = check(schema, value);
  return outputOf(result, value, pointer);
}

async function validateAsync<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  pointer: Pointer,
): Promise<z.output<Schema>> {
  let result = await checkAsync(schema, value);
  if (result.issues.length > 0 && dropRefusedNulls(value, result.issues)) {
    result = await checkAsync(schema, value);
  }
  return outputOf(result, value, pointer);
}

function outputOf<Output>(result: Checked<Output>, value: unknown, pointer: Pointer): Output {
  const count = result.issues.length;
  if (count === 0) return result.value;
  const issues = result.issues.slice(0, MAX_ISSUES).map((raw): FieldIssue => {
    const issue = z.core.util.finalizeIssue(raw, undefined, z.config());
    return { pointer: pointer(issue.path), detail: describe(issue, value) };
  });
  const [first] = issues;
  const message =
    count === 1 && first !== undefined
      ? `${first.pointer === '' ? 'The body' : first.pointer}: ${first.detail}`
      : `${count} fields are invalid; see errors.`;
  throw new ServiceError('INVALID_REQUEST', message, { issues, issuesOmitted: count - issues.length });
}

/**
 * The declared query parameters of an absolute URL; any other is ignored.
 * @throws {ServiceError} INVALID_REQUEST, with pointers of the form `query/<name>`
 */
export function parseQuery(schema: z.ZodObject | undefined, url: string): Record<string, unknown> {
  if (schema === undefined) return {};
  const query = new URL(url).searchParams;
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const [value, ...repeated] = query.getAll(name);
    if (value === undefined) continue;
    if (repeated.length > 0) throw invalid(`query/${name}`, 'Send this query parameter only once.');
    if (hasUnsafeCharacters(value)) {
      throw invalid(`query/${name}`, 'NUL characters and lone surrogates are not allowed.');
    }
    values[name] = value;
  }
  return validate(schema, values, (path) => `query/${path.map(String).join('/')}`);
}

function assertNotEncoded(headers: Headers): void {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a Content-Encoding.');
  }
}

function assertJsonContentType(headers: Headers): void {
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  const isJson = /^application\/(?:[\w.-]+\+)?json$/.test(type.trim());
  if (!isJson || (charset !== undefined && !/^charset="?utf-8"?$/.test(charset))) {
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json in UTF-8.');
  }
  assertNotEncoded(headers);
}

/** The body that a route takes. */
export interface ExpectedBody {
  readonly schema: z.ZodType;
  /** True when it may be omitted. */
  readonly optional: boolean;
  /** True when the schema checks asynchronously. */
  readonly isAsync: boolean;
}

/**
 * The request's JSON body as the schema's output. A route without a body schema never reads one.
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or INVALID_REQUEST naming the bad fields
 */
export async function parseBody(expected: ExpectedBody | undefined, source: BodySource): Promise<unknown> {
  if (expected === undefined) return undefined;
  const { schema, optional, isAsync } = expected;
  if (source.headers.get('content-type') !== null) assertJsonContentType(source.headers);
  const bytes = await source.read();
  if (bytes.length === 0) {
    if (optional) return undefined;
    throw invalid('', 'A JSON body is required.');
  }
  assertJsonContentType(source.headers);
  try {
    if (bytes.length > TURN_BYTES) await loopTurn();
    const value = timed(() => readJson(bytes));
    if (isAsync) return await validateAsync(schema, value, pointerTo);
    return timed(() => validate(schema, value, pointerTo));
  } finally {
    source.checked();
  }
}

/**
 * The bytes of a route's upload, empty when it takes none.
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or INVALID_REQUEST when nothing was sent
 */
export async function readUpload(upload: Upload | undefined, source: BodySource): Promise<Uint8Array> {
  if (upload === undefined) return new Uint8Array();
  const [type = ''] = (source.headers.get('content-type') ?? '').toLowerCase().split(';');
  if (!upload.mediaTypes.includes(type.trim())) {
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Send the file itself as the body, as one of ${upload.mediaTypes.join(', ')}.`,
    );
  }
  assertNotEncoded(source.headers);
  const bytes = await source.read();
  if (bytes.length === 0) throw invalid('', 'The body is empty; send the file itself as the body.');
  return bytes;
}
