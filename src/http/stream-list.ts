import { AsyncLocalStorage } from 'node:async_hooks';
import { inBatches } from '../db/batches.ts';
import { JsonText } from '../json-text.ts';
import type { RouteResponse } from './route.ts';
import { ok } from './success.ts';

/** Bytes of a page of a streamed list at most. */
export const PAGE_BYTES = 256 * 1_024;

/** A page of a streamed list: its items, each as JSON, and where the next page begins; null on the last one. */
export interface ListPage<Position> {
  readonly items: readonly string[];
  readonly last: Position | null;
}

/** JSON that is still being read while it is sent. */
export class JsonStream {
  readonly #pieces: AsyncGenerator<string>;

  constructor(pieces: AsyncGenerator<string>) {
    this.#pieces = pieces;
  }

  /**
   * The text as bytes, read piece by piece: the next one when the last was taken.
   * @param onError called when a piece could not be read; nothing follows, so it has to end the connection
   */
  open(onError: (error: unknown) => void): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let isGone = false;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await this.#pieces.next();
            if (isGone) return;
            if (done) controller.close();
            else controller.enqueue(encoder.encode(value));
          } catch (error) {
            if (isGone) return;
            onError(error);
            controller.close();
          }
        },
        cancel: async () => {
          isGone = true;
          await this.#pieces.return(undefined);
        },
      },
      { highWaterMark: 0 },
    );
  }
}

async function* textOf(
  name: string,
  first: readonly string[],
  rest: AsyncIterable<ListPage<unknown>>,
): AsyncGenerator<string> {
  yield `{${JSON.stringify(name)}:[${first.join(',')}`;
  for await (const { items } of rest) if (items.length > 0) yield `,${items.join(',')}`;
  yield ']}';
}

/**
 * The response `{ name: [items] }` of a list that no client gets page by page and that may be long. The first page is
 * read before the status is sent, each further one when the last was taken; one that fails ends the connection, so that
 * half a list is never taken for a whole. A list of one page is a response like any other.
 * @param next reads the page after a position, in a statement of its own: PAGE_BYTES at most, and not empty unless it is
 *   the last
 */
export async function streamList<Position>(
  name: string,
  start: Position,
  next: (after: Position) => Promise<ListPage<Position>>,
): Promise<RouteResponse> {
  // Later pages are read for the same workspace.
  const pages = inBatches<Position, ListPage<Position>>(start, AsyncLocalStorage.bind(next));
  const { value: first } = await pages.next();
  if (first === undefined || first.last === null) {
    return ok({ [name]: new JsonText(`[${(first?.items ?? []).join(',')}]`) });
  }
  return ok(new JsonStream(textOf(name, first.items, pages)));
}
