import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AttemptRecord } from '../temporal/shapes.ts';
import { MAX_ATTEMPTS } from '../webhooks/attempts/schedule.ts';

export interface DeliveryMetrics {
  /**
   * Called when an attempt begins.
   * @param number which of the delivery's attempts it is, from 1
   * @param createdAt when the event was recorded
   */
  readonly attemptBegan: (number: number, createdAt: Date) => void;
  /**
   * Called when an attempt's outcome has been classified.
   * @param number which of the delivery's attempts it was: the last one ends the delivery
   */
  readonly attemptEnded: (verdict: AttemptRecord['verdict'], number: number) => void;
  /** Called when a receiver has asked for fewer requests. */
  readonly requestRefused: () => void;
  /** Called when so many deliveries ended because they had waited too long. */
  readonly deliveriesTooOld: (count: number) => void;
  /** Called when so many events were passed over for an endpoint, as too old or while it was disabled. */
  readonly eventsMissed: (count: number) => void;
  /** Called when an endpoint was disabled for failing. */
  readonly endpointDisabled: () => void;
  /** Sets what counts the endpoints that this process holds; until then there are none. */
  readonly countHeld: (count: () => number) => void;
}

const VERDICTS = ['succeeded', 'retry', 'failed'] as const satisfies readonly AttemptRecord['verdict'][];
const ENDS = ['delivered', 'refused', 'given_up', 'too_old'] as const;

/** What an attempt's verdict means for its delivery; null when another attempt follows. */
function endOf(verdict: AttemptRecord['verdict'], number: number): (typeof ENDS)[number] | null {
  if (verdict === 'succeeded') return 'delivered';
  if (verdict === 'failed') return 'refused';
  return number >= MAX_ATTEMPTS ? 'given_up' : null;
}

/** Counts the attempts of this process, the delay of first attempts, and how their deliveries end. */
export function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const attempts = new Counter({
    name: 'webhook_delivery_attempts_total',
    help: 'Attempts made, by outcome.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const ended = new Counter({
    name: 'webhook_deliveries_ended_total',
    help: 'Deliveries ended by an attempt (delivered, refused with a response that is not retried, given up), or as too old.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const delay = new Histogram({
    name: 'webhook_first_attempt_delay_seconds',
    help: 'Time from the record of an event to the start of the first attempt to deliver it.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600],
    registers: [registry],
  });
  const disabled = new Counter({
    name: 'webhook_endpoints_disabled_total',
    help: 'Endpoints disabled because nothing was delivered to them for five days.',
    registers: [registry],
  });
  const missed = new Counter({
    name: 'webhook_events_missed_total',
    help: 'Events passed over for an endpoint.',
    registers: [registry],
  });
  const refused = new Counter({
    name: 'webhook_requests_refused_total',
    help: 'Responses that ask for fewer requests: 429, and 503 with Retry-After.',
    registers: [registry],
  });
  let held = () => 0;
  new Gauge({
    name: 'webhook_endpoints_held',
    help: 'Endpoints with due deliveries whose secret this process cannot read.',
    registers: [registry],
    collect() {
      this.set(held());
    },
  });
  // A series that exists from the start lets rates see its first step.
  for (const outcome of VERDICTS) attempts.inc({ outcome }, 0);
  for (const outcome of ENDS) ended.inc({ outcome }, 0);
  return {
    attemptBegan: (number, createdAt) => {
      // The database's clock may be a little ahead of ours.
      if (number === 1) delay.observe(Math.max(0, Date.now() - createdAt.getTime()) / 1_000);
    },
    attemptEnded: (verdict, number) => {
      attempts.inc({ outcome: verdict });
      const outcome = endOf(verdict, number);
      if (outcome !== null) ended.inc({ outcome });
    },
    requestRefused: () => refused.inc(),
    deliveriesTooOld: (count) => ended.inc({ outcome: 'too_old' }, count),
    eventsMissed: (count) => missed.inc(count),
    endpointDisabled: () => disabled.inc(),
    countHeld: (count) => {
      held = count;
    },
  };
}
