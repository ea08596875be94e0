import { type RawBuilder, sql } from 'kysely';

/**
 * The body of a recursive CTE `name (endpoint_id)`: the endpoints that have deliveries of a kind, each once, and a
 * last row of NULL. It jumps from one endpoint to the next along an index that begins with endpoint_id, so that it
 * costs the number of endpoints and not that of their deliveries.
 * @param condition the predicate of such a partial index, word for word
 */
export function endpointsWith(name: string, condition: RawBuilder<boolean>): RawBuilder<unknown> {
  const last = sql.ref(`${name}.endpoint_id`);
  return sql`
    (SELECT endpoint_id FROM webhook_deliveries WHERE ${condition} ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT endpoint_id FROM webhook_deliveries
            WHERE ${condition} AND endpoint_id > ${last} ORDER BY endpoint_id LIMIT 1)
    FROM ${sql.ref(name)} WHERE ${last} IS NOT NULL`;
}
