/**
 * SQL over `subscribers`: those that are behind. The caller queues nothing for them and names them in `events.behind`; the
 * rest is for src/webhooks/backlog. A mark is locked until the transaction ends, so its end waits for each event that
 * relied on it, and an event that finds the mark gone queues its deliveries itself. Whoever sets or moves a mark
 * waits for no event, and no event for him.
 */
export const BEHIND = `
     SELECT endpoint_id FROM webhook_backlogs
     WHERE endpoint_id = ANY (ARRAY(SELECT id FROM subscribers)) AND NOT closing
     FOR KEY SHARE`;
