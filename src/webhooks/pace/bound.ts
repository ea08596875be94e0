import type { Tx } from '../../db/database.ts';
import type { EndpointId } from '../../ids.ts';

/**
 * Sets the upper bound of an endpoint's pace, or with null removes it (contract.md W76). What its receiver asked for stays.
 * @param rateLimit requests a second
 */
export async function boundPace(tx: Tx, endpointId: EndpointId, rateLimit: number | null): Promise<void> {
  if (rateLimit === null) {
    await tx
      .updateTable('webhook_paces')
      .set({ max_rate: null })
      .where('endpoint_id', '=', endpointId)
      .execute();
    return;
  }
  await tx
    .insertInto('webhook_paces')
    .values({ endpoint_id: endpointId, max_rate: rateLimit, rate: rateLimit })
    .onConflict((conflict) => conflict.column('endpoint_id').doUpdateSet({ max_rate: rateLimit }))
    .execute();
}
