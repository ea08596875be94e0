import { ServiceError } from '../errors.ts';
import type { BodySource } from './input.ts';

const EMPTY = new Uint8Array();

const tooLarge = (limit: number): ServiceError =>
  new ServiceError('PAYLOAD_TOO_LARGE', `A body may have ${limit} bytes at most.`);

async function readStream(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The request's body, read on demand and never beyond `limit` bytes: a declared length above it is
 * refused unread, an undeclared one is counted as it comes.
 */
export function bodySource(request: Request, limit: number): BodySource {
  const { headers } = request;
  const read = async (): Promise<Uint8Array> => {
    const declared = headers.get('content-length');
    if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
    try {
      if (declared !== null) return new Uint8Array(await request.arrayBuffer());
      return request.body === null ? EMPTY : await readStream(request.body, limit);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError('INVALID_REQUEST', 'The body ended before it was complete.', { cause: error });
    }
  };
  return { headers, read };
}
