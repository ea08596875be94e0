import type { IncomingMessage } from 'node:http';
import { setImmediate as othersGoFirst } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { ServiceError, unavailable } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import type { Holding } from '../room.ts';
import type { BodySource } from './input.ts';
import type { Progress, Transfer } from './progress.ts';

const EMPTY = Buffer.alloc(0);

/** JSON bodies above this many bytes are parsed and checked in turns (contract.md A17). */
const LARGE_BODY_BYTES = 256 * 1024;
/** Large bodies parsed or checked at the same time, in this process and per workspace. */
const LARGE_BODIES = { total: 2, perOwner: 1 };
/** Bodies of one workspace that may wait for their turn. */
const MAX_WAITING = 32;
/** A connection may bring this many bytes of a body before they count. */
const FIRST_BYTES = 64 * 1024;

/** Shared by the bodies of one process. */
export interface BodyReader {
  /**
   * The request's body, read on demand and never beyond `limit` bytes: a larger declared length is refused unread, an
   * undeclared one is counted while reading.
   */
  readonly open: (headers: Headers, options: BodyOptions) => OpenBody;
}

export interface BodyOptions {
  readonly limit: number;
  /** False for a file, which is not parsed and needs no turn. */
  readonly json: boolean;
  /** Bytes of memory that a byte of the body takes until the response is sent. */
  readonly perByte: number;
  /** Bytes that the request needs besides. */
  readonly besides: number;
  /** Claimed after the first bytes of the body, for all that the request needs. */
  readonly room: Holding;
  /** Whose turn a large body takes: the workspace. */
  readonly owner: string;
  /** Counts the bytes against the caller's rate. @throws {ServiceError} RATE_LIMITED */
  readonly charge: (bytes: number) => Promise<void>;
  readonly incoming: IncomingMessage | undefined;
  /** The connection, to notice that the client is gone. */
  readonly connection: HttpBindings['outgoing'] | undefined;
}

export interface OpenBody extends BodySource {
  /** Ends the body's turn, if it still has it. */
  readonly close: () => void;
}

const tooLarge = (limit: number): ServiceError =>
  new ServiceError('PAYLOAD_TOO_LARGE', `The body may have at most ${limit} bytes.`);

const busy = (): ServiceError =>
  unavailable('turns', 'Too many large request bodies are being processed. Try again shortly.');

const incomplete = (cause?: unknown): ServiceError =>
  new ServiceError('INVALID_REQUEST', 'The body ended before it was complete.', { cause });

const tooSlow = (): ServiceError =>
  new ServiceError(
    'INVALID_REQUEST',
    'The body arrived at less than 1 KiB a second while others waited for memory.',
    { status: 408 },
  );

/** Waits with a signal that is aborted once the connection is closed. */
async function whileConnected<Result>(
  connection: BodyOptions['connection'],
  wait: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const gone = new AbortController();
  const abort = () => gone.abort(incomplete());
  if (connection?.destroyed) abort();
  connection?.once('close', abort);
  try {
    return await wait(gone.signal);
  } finally {
    // Each response ends with this event: a listener that stays would make an error for every request.
    connection?.off('close', abort);
  }
}

/** A body as it arrives. */
interface Arriving {
  /** Bytes so far. */
  readonly size: () => number;
  /** The next piece; undefined at the end. @throws {ServiceError} PAYLOAD_TOO_LARGE; INVALID_REQUEST */
  readonly next: () => Promise<Buffer | undefined>;
}

function arriving(
  incoming: IncomingMessage,
  limit: number,
  transfer: Transfer,
  cut: Promise<never>,
): Arriving {
  const pieces: AsyncIterator<Buffer, undefined> = incoming.iterator({ destroyOnReturn: false });
  let size = 0;
  return {
    size: () => size,
    next: async () => {
      transfer.waitsForClient(true);
      try {
        const { value } = await Promise.race([pieces.next(), cut]);
        const length = value?.byteLength ?? 0;
        size += length;
        transfer.moved(length);
        if (size > limit) throw tooLarge(limit);
        return value;
      } catch (error) {
        throw error instanceof ServiceError ? error : incomplete(error);
      } finally {
        transfer.waitsForClient(false);
      }
    },
  };
}

/** Reads the rest of a body into one buffer of `most` bytes. */
async function readRest(body: Arriving, first: readonly Buffer[], most: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(most);
  let at = 0;
  for (const piece of first) at += piece.copy(bytes, at);
  for (let piece = await body.next(); piece !== undefined; piece = await body.next()) {
    at += piece.copy(bytes, at);
  }
  return bytes.subarray(0, at);
}

/**
 * Bounds the cost of bodies: memory, claimed once for all that their requests need, and a turn to parse and check a large
 * one. Neither the wait nor the turn waits for the database.
 * @param waitMs how long a body waits for memory, and again for its turn
 */
export function createBodyReader(waitMs: number, progress: Progress): BodyReader {
  const queue = createFairQueue({ ...LARGE_BODIES, maxWaiting: MAX_WAITING, refusal: busy });

  const readAll = async (
    body: Arriving,
    declared: number | null,
    { limit, perByte, besides, room, connection }: BodyOptions,
  ): Promise<Uint8Array> => {
    const first: Buffer[] = [];
    let piece: Buffer | undefined = EMPTY;
    while (piece !== undefined && body.size() < FIRST_BYTES) {
      piece = await body.next();
      if (piece !== undefined) first.push(piece);
    }
    const isWhole = piece === undefined;
    const most = isWhole ? body.size() : (declared ?? limit);
    await whileConnected(connection, (signal) => room.take(most * perByte + besides, { waitMs, signal }));
    if (!isWhole) return readRest(body, first, most);
    return first.length === 1 ? (first[0] ?? EMPTY) : Buffer.concat(first);
  };

  return {
    open: (headers, options) => {
      const { limit, json, owner, charge, connection, incoming } = options;
      let endTurn: (() => void) | undefined;
      const read = async (): Promise<Uint8Array> => {
        const length = headers.get('content-length');
        const declared = length === null ? null : Number(length);
        if (declared !== null && declared > limit) throw tooLarge(limit);
        if (declared !== null) await charge(declared);
        if (incoming === undefined) return EMPTY;
        const slow = Promise.withResolvers<never>();
        slow.promise.catch(() => undefined);
        const transfer = progress.track('body', () => slow.reject(tooSlow()));
        const body = arriving(incoming, limit, transfer, slow.promise);
        let bytes: Uint8Array;
        try {
          bytes = await readAll(body, declared, options);
        } finally {
          transfer.end();
          // Those of a refused body count as well.
          if (declared === null) await charge(body.size());
        }
        if (!json || bytes.length <= LARGE_BODY_BYTES) return bytes;
        endTurn = await whileConnected(connection, (signal) => queue.take(owner, { waitMs, signal }));
        await othersGoFirst();
        return bytes;
      };
      return { headers, read, checked: () => endTurn?.(), close: () => endTurn?.() };
    },
  };
}
