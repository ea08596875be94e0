import { AsyncLocalStorage } from 'node:async_hooks';
import { inBatches } from '../db/batches.ts';
import { createFairQueue } from '../fair-queue.ts';
import { JsonText } from '../json-text.ts';
import { currentShare, noRoom, type Share } from '../threads/share.ts';
import { loopTurn } from '../threads/turns.ts';
import type { RouteResponse } from './route.ts';
import { ok } from './success.ts';

/** Bytes of a page of a streamed list at most. */
export const PAGE_BYTES = 256 * 1_024;

/**
 * Further pages read at once, in this process and of one workspace. The kernel takes megabytes for a client that reads nothing, so
 * that its list would come as fast as the database and this process can read.
 */
const PAGES_AT_ONCE = { total: 4, perOwner: 1 };
const MAX_WAITING = 500;
/** Characters that are joined and sent in far less than a millisecond. */
const SHORT_PAGE = 16 * 1_024;
const pages = createFairQueue({ ...PAGES_AT_ONCE, maxWaiting: MAX_WAITING, refusal: noRoom });

/** A page of a streamed list: its items, each as JSON, and where the next page begins; null on the last one. */
export interface ListPage<Position> {
  readonly items: readonly string[];
  readonly last: Position | null;
}

/** JSON that is still being read while it is sent. */
export class JsonStream {
  readonly #pieces: AsyncGenerator<Uint8Array>;

  constructor(pieces: AsyncGenerator<Uint8Array>) {
    this.#pieces = pieces;
  }

  /**
   * The text as bytes, read piece by piece: the next one when the last was taken.
   * @param onError called when a piece could not be read; nothing follows, so it has to end the connection
   */
  open(onError: (error: unknown) => void): ReadableStream<Uint8Array> {
    let isGone = false;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await this.#pieces.next();
            if (isGone) return;
            if (done) controller.close();
            else controller.enqueue(value);
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

/** A page with its items joined. */
interface JoinedPage<Position> {
  readonly text: string;
  readonly last: Position | null;
}

/** Joins the items of a page; those of a short one need no turn of the event loop for that. */
async function join<Position>(
  share: Share,
  { items, last }: ListPage<Position>,
): Promise<JoinedPage<Position>> {
  const length = items.reduce((sum, item) => sum + item.length, 0);
  if (length > SHORT_PAGE) await loopTurn(share);
  return { text: items.join(','), last };
}

/** Reads a further page in its turn. */
async function readInTurn<Position>(
  share: Share,
  read: () => Promise<ListPage<Position>>,
): Promise<JoinedPage<Position>> {
  const release = await pages.take(share.of, { waitMs: share.waitMs });
  try {
    return await join(share, await read());
  } finally {
    release();
  }
}

async function* textOf(
  name: string,
  first: string,
  rest: AsyncIterable<{ readonly text: string }>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`{${JSON.stringify(name)}:[${first}`);
  for await (const { text } of rest) if (text !== '') yield Buffer.from(`,${text}`);
  yield Buffer.from(']}');
}

/**
 * The response `{ name: [items] }` of a list that no client gets page by page and that may be long. The first page is
 * read before the status is sent, each further one when the last was taken; one that fails ends the connection, so that
 * half a list is never taken for a whole. A list of one page is a response like any other. Further pages of a workspace's
 * lists are read one at a time (contract.md A32).
 * @param next reads the page after a position, in a statement of its own: PAGE_BYTES at most, and not empty unless it is
 *   the last
 */
export async function streamList<Position>(
  name: string,
  start: Position,
  next: (after: Position) => Promise<ListPage<Position>>,
): Promise<RouteResponse> {
  const share = currentShare();
  // Read like any other response: what reads very much are the pages behind it.
  const { text, last } = await join(share, await next(start));
  if (last === null) return ok({ [name]: new JsonText(`[${text}]`) });
  // Later pages are read for the same workspace.
  const read = AsyncLocalStorage.bind(next);
  const rest = inBatches(last, (after: Position) => readInTurn(share, () => read(after)));
  return ok(new JsonStream(textOf(name, text, rest)));
}
