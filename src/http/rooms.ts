import { createRoom, type Holding, type Room } from '../room.ts';
import { NoRoom, noRoom, type WorkRoom } from '../threads/share.ts';
import {
  bytesToRead,
  DEFAULT_BODY_BYTES,
  LIST_BYTES,
  MAX_WAITING_FOR_ROOM,
  PER_DOCUMENT_BYTE,
  PER_JSON_BYTE,
  ROOM_BYTES,
  STRANGERS_ROOM_BYTES,
  UNCLAIMED_BYTES,
} from './limits.ts';
import type { RouteDefinition } from './route.ts';

/** The memory of one process, in bytes really held. */
export interface Rooms {
  /** For requests with a key: bodies, work, responses and fetched images. A workspace holds a quarter at most. */
  readonly workspaces: Room;
  /** For images that are sent without a key. An address holds half at most. */
  readonly strangers: Room;
}

export const createRooms = (bytes = ROOM_BYTES): Rooms => {
  const shared = { maxWaiting: MAX_WAITING_FOR_ROOM, refusal: noRoom };
  return {
    workspaces: createRoom({ ...shared, total: bytes, perOwner: bytes / 4, unclaimed: UNCLAIMED_BYTES }),
    strangers: createRoom({ ...shared, total: STRANGERS_ROOM_BYTES, perOwner: STRANGERS_ROOM_BYTES / 2 }),
  };
};

/** What a request of a route claims besides its body, before any of it: its work and its response (contract.md A56). */
export function bytesBesidesBody(route: RouteDefinition, articleBytes: number): number {
  const isList = route.operationId.startsWith('list');
  const response = route.responseBytes ?? (isList ? LIST_BYTES : 0);
  return response + bytesToRead(articleBytes);
}

/** What a byte of a route's body takes until the response is sent. */
export function bytesPerBodyByte({ upload, bodyBytes = DEFAULT_BODY_BYTES }: RouteDefinition): number {
  // As it was sent, and as it is stored.
  if (upload !== undefined) return 2;
  return bodyBytes > DEFAULT_BODY_BYTES ? PER_DOCUMENT_BYTE : PER_JSON_BYTE;
}

/** The room of a request as its work sees it. @param besides what the request claims besides its body */
export const workRoomOf = (holding: Holding, besides: number, waitMs: number): WorkRoom => ({
  has: (bytes) => bytes <= holding.bytes() || holding.resize(bytes),
  take: (bytes) => holding.take(besides + bytes, { waitMs }),
});

/**
 * Runs the work of a request that changes nothing. Work that turns out to need more than was claimed is dropped, and
 * begins again once there is room for all of it.
 */
export async function withEnoughRoom<Result>(
  holding: Holding,
  waitMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NoRoom)) throw error;
    await holding.take(error.bytes, { waitMs });
    return work();
  }
}
