import { invalid } from '../../errors.ts';
import { type EventId, parseId } from '../../ids.ts';

/** A place in the log of a workspace: after the event of this number. */
export interface Place {
  readonly number: number;
  /** Null before the first event, and before the oldest one that is kept. */
  readonly eventId: EventId | null;
}

/** The place as opaque text that a client sends back. */
export const encodePlace = ({ number, eventId }: Place): string =>
  Buffer.from(`${number} ${eventId ?? ''}`).toString('base64url');

/**
 * The place of the client's cursor.
 * @throws {ServiceError} INVALID_REQUEST for text that is no cursor
 */
export function decodePlace(cursor: string): Place {
  const [, digits, text = ''] =
    /^(0|[1-9]\d{0,14}) ([0-9a-f-]*)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const eventId = parseId<EventId>(text);
  if (digits === undefined || (text !== '' && eventId === null)) {
    throw invalid('query/after', 'Send the cursor of the previous response, unchanged, or latest.');
  }
  return { number: Number(digits), eventId };
}
