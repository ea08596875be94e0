import { errorCode } from '../error-text.ts';
import { type ServiceError, unavailable } from '../errors.ts';
import { BlobStoreError } from './blob-store.ts';

/** A disk that is full, used up or read-only: an operator has to see to it. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);
const NO_ROOM_SECONDS = 60;
/** A store across the network that fails: often over soon. */
const FAILING_SECONDS = 10;

const failing = (detail: string, retryAfter: number, cause: unknown): ServiceError =>
  unavailable('image_store', detail, { retryAfter, cause });

/**
 * Why bytes were not stored, as a client may see it.
 * @throws {ServiceError} SERVICE_UNAVAILABLE for a store that fails or has no room (contract.md F20 and F41)
 */
export function rethrowUnstored(error: unknown): never {
  const detail = 'Images cannot be stored at the moment. Try again later.';
  if (error instanceof BlobStoreError) throw failing(detail, FAILING_SECONDS, error);
  if (NO_ROOM.has(errorCode(error))) throw failing(detail, NO_ROOM_SECONDS, error);
  throw error;
}

/**
 * Why bytes were not read.
 * @throws {ServiceError} SERVICE_UNAVAILABLE for a store that fails (contract.md F41)
 */
export function rethrowUnread(error: unknown): never {
  const detail = 'Images cannot be read at the moment. Try again later.';
  if (error instanceof BlobStoreError) throw failing(detail, FAILING_SECONDS, error);
  throw error;
}
