import pino from 'pino';
import { FIRST, numberEvents } from '../../../src/events/log/number-events.ts';
import { keepBacklogs } from '../../../src/webhooks/backlog/keep.ts';
import { createLoop } from './loop.ts';

/** A process of its own that keeps backlogs and numbers events, to be killed. */
const url = process.env.DATABASE_URL ?? '';
const db = createLoop(url);
keepBacklogs({
  db: createLoop(url),
  logger: pino({ level: 'silent' }),
  maxAgeSeconds: 3_600,
  onTooOld: () => undefined,
  onMissed: () => undefined,
  retentionSeconds: 86_400,
  bounds: { mark: 60, refill: 30, queued: 30, looked: 50 },
  countMs: 20,
});
for (;;) {
  await numberEvents(db, FIRST);
  await new Promise((resolve) => setTimeout(resolve, 5));
}
