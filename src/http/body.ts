import { setImmediate as othersGoFirst } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { ServiceError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import type { BodySource } from './input.ts';

const MIB = 1024 * 1024;
const EMPTY = new Uint8Array();

/** JSON bodies above this many bytes are parsed and checked in turns (contract.md A17). */
const LARGE_BODY_BYTES = 256 * 1024;
/** Large bodies parsed or checked at the same time, in this process and per workspace. */
const LARGE_BODIES = { total: 2, perOwner: 1 };
/** Bodies above this many bytes reserve memory before they are read. */
const HELD_BODY_BYTES = 16 * 1024;
/** Memory for such bodies, in bytes, each held from its first byte to its response. */
const ROOM = { total: 64 * MIB, perOwner: 16 * MIB };
/** Memory per byte of JSON: text, parsed value and rendering exist at the same time. */
const ROOM_PER_JSON_BYTE = 4;
/** Bodies of one workspace that may wait for memory, and as many for their turn. */
const MAX_WAITING = 32;

/** Shared by the bodies of one process. */
export interface BodyReader {
  /**
   * The request's body, read on demand and never beyond `limit` bytes: a larger declared length is refused unread, an
   * undeclared one is counted while reading.
   */
  readonly open: (request: Request, options: BodyOptions) => OpenBody;
}

export interface BodyOptions {
  readonly limit: number;
  /** False for a file, which is not parsed and needs no turn. */
  readonly json: boolean;
  /** Whose memory and turn a body uses: the workspace. */
  readonly owner: string;
  /** Counts the bytes against the caller's rate. @throws {ServiceError} RATE_LIMITED */
  readonly charge: (bytes: number) => Promise<void>;
  /** The connection, to notice that the client is gone. */
  readonly connection: HttpBindings['outgoing'] | undefined;
}

export interface OpenBody extends BodySource {
  /** Releases the body's memory, once the response is sent. */
  readonly close: () => void;
}

const tooLarge = (limit: number): ServiceError =>
  new ServiceError('PAYLOAD_TOO_LARGE', `The body may have at most ${limit} bytes.`);

const busy = (): ServiceError =>
  new ServiceError(
    'SERVICE_UNAVAILABLE',
    'Too many large request bodies are being processed. Try again shortly.',
  );

const incomplete = (cause?: unknown): ServiceError =>
  new ServiceError('INVALID_REQUEST', 'The body ended before it was complete.', { cause });

/** The bytes of a body with a declared length. */
async function readDeclared(request: Request): Promise<Uint8Array> {
  try {
    return new Uint8Array(await request.arrayBuffer());
  } catch (error) {
    throw incomplete(error);
  }
}

/** The bytes of a body without a declared length; those of a refused one count toward the rate limit too. */
async function readUndeclared(
  { body }: Request,
  { limit, charge }: Pick<BodyOptions, 'limit' | 'charge'>,
): Promise<Uint8Array> {
  if (body === null) return EMPTY;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body as ReadableStream<Uint8Array>) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : incomplete(error);
  } finally {
    await charge(size);
  }
  return Buffer.concat(chunks);
}

/** Aborted once the connection is closed. */
function whenGone(connection: BodyOptions['connection']): AbortSignal {
  const gone = new AbortController();
  if (connection?.destroyed) gone.abort(incomplete());
  connection?.once('close', () => gone.abort(incomplete()));
  return gone.signal;
}

/**
 * Bounds the cost of bodies: memory while they arrive, so that slow senders fill none, and a turn to parse and check a
 * large one. Neither the wait nor the turn waits for the database.
 * @param waitMs how long a body waits for memory, and again for its turn
 */
export function createBodyReader(waitMs: number): BodyReader {
  const room = createFairQueue({ ...ROOM, maxWaiting: MAX_WAITING, refusal: busy });
  const queue = createFairQueue({ ...LARGE_BODIES, maxWaiting: MAX_WAITING, refusal: busy });
  return {
    open: (request, options) => {
      const { headers } = request;
      const { limit, json, owner, charge, connection } = options;
      let giveRoomBack: (() => void) | undefined;
      let endTurn: (() => void) | undefined;
      const read = async (): Promise<Uint8Array> => {
        const length = headers.get('content-length');
        const declared = length === null ? null : Number(length);
        if (declared !== null && declared > limit) throw tooLarge(limit);
        if (declared !== null) await charge(declared);
        const readAll = () => (declared === null ? readUndeclared(request, options) : readDeclared(request));
        const most = declared ?? limit;
        if (most <= HELD_BODY_BYTES) return readAll();
        const signal = whenGone(connection);
        const amount = json ? most * ROOM_PER_JSON_BYTE : most;
        giveRoomBack = await room.take(owner, { amount, waitMs, signal });
        const bytes = await readAll();
        if (!json || bytes.length <= LARGE_BODY_BYTES) return bytes;
        endTurn = await queue.take(owner, { waitMs, signal });
        await othersGoFirst();
        return bytes;
      };
      return {
        headers,
        read,
        checked: () => endTurn?.(),
        close: () => {
          endTurn?.();
          giveRoomBack?.();
        },
      };
    },
  };
}
