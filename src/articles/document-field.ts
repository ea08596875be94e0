import { z } from 'zod';
import { documentSchema, EMPTY_DOCUMENT } from '../document/format/schema.ts';
import type { RenderedDocument } from '../document/tasks/stored.ts';
import { doTask } from '../threads/pool.ts';

/** Of an article that is made without one. */
export const EMPTY_BODY: RenderedDocument = {
  stored: { json: EMPTY_DOCUMENT, words: 0, images: [], firstHeading: null },
  rendered: { html: '', markdown: '', places: null },
};

/**
 * Checks a value against the document format, on a thread when it is large.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when the workspace's turn did not come in time
 */
const checkBody = (value: unknown) => doTask('check', JSON.stringify(value));

const { $schema: _, ...shape } = z.toJSONSchema(documentSchema, { io: 'input', unrepresentable: 'any' });

/** documentJson of a request. Described by its format's schema, and checked off the event loop. */
export const documentField = z
  .unknown()
  .transform(async (value, context): Promise<RenderedDocument> => {
    const checked = await checkBody(value ?? null);
    if (checked.ok) return checked;
    for (const { pointer, message } of checked.issues) {
      const path = pointer.split('/').slice(1).map(keyOf);
      context.issues.push({ code: 'custom', path, message, input: value });
    }
    for (let more = 0; more < checked.omitted; more += 1) {
      context.issues.push({ code: 'custom', path: [], message: 'does not match the format', input: value });
    }
    return z.NEVER;
  })
  .meta(shape);

const keyOf = (part: string): string | number =>
  /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
