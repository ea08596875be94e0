import type { Progress, Transfer } from './progress.ts';

/** Bytes handed to a connection at once: the next ones when it has passed these on. */
export const SENT_AT_ONCE = 16 * 1024;

/**
 * The body of a response as a stream that shows how much of it the client has taken: shared or held bytes are sent in
 * slices, without a copy.
 * @param cut ends the connection of a client that hardly reads while others wait
 */
export function sendBody(
  body: Uint8Array | ReadableStream<Uint8Array>,
  progress: Progress,
  cut: () => void,
): ReadableStream<Uint8Array> {
  let transfer: Transfer | undefined;
  const next = body instanceof Uint8Array ? slicesOf(body) : piecesOf(body);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Called when the connection has taken the piece before; never for HEAD.
        transfer ??= progress.track('response', cut);
        transfer.waitsForClient(false);
        try {
          const piece = await next.read();
          if (piece === undefined) {
            transfer.end();
            controller.close();
            return;
          }
          controller.enqueue(piece);
          transfer.moved(piece.byteLength);
          transfer.waitsForClient(true);
        } catch (error) {
          transfer.end();
          throw error;
        }
      },
      async cancel(reason) {
        transfer?.end();
        await next.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

interface Pieces {
  readonly read: () => Promise<Uint8Array | undefined> | Uint8Array | undefined;
  readonly cancel: (reason: unknown) => Promise<void> | undefined;
}

function slicesOf(body: Uint8Array): Pieces {
  let at = 0;
  return {
    read: () => {
      if (at >= body.byteLength) return undefined;
      const slice = body.subarray(at, at + SENT_AT_ONCE);
      at += slice.byteLength;
      return slice;
    },
    cancel: () => undefined,
  };
}

function piecesOf(body: ReadableStream<Uint8Array>): Pieces {
  const reader = body.getReader();
  return {
    read: async () => (await reader.read()).value,
    cancel: (reason) => reader.cancel(reason),
  };
}
