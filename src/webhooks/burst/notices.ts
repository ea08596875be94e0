import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { OUTBOX_CHANNEL } from '../../events/record.ts';
import { type BurstId, parseId } from '../../ids.ts';

/** What a burst tells all relays: that it takes deliveries from the outbox; that it is full; that few came in. */
export type BurstNotice = 'claiming' | 'claimed' | 'lull';

const NOTICE = /^(claiming|claimed|lull) (\S+)$/;

export async function announce(db: Database, notice: BurstNotice, burstId: BurstId): Promise<void> {
  await sql`SELECT pg_notify(${OUTBOX_CHANNEL}, ${`${notice} ${burstId}`})`.execute(db);
}

/** A notice as it was heard on the outbox's channel; null for the one that tells of new rows. */
export function parseNotice(payload: string): { notice: BurstNotice; burstId: BurstId } | null {
  const [, notice, id = ''] = NOTICE.exec(payload) ?? [];
  const burstId = parseId<BurstId>(id);
  return notice === undefined || burstId === null ? null : { notice: notice as BurstNotice, burstId };
}
