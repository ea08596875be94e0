import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { pause } from '../../pause.ts';
import { deliveriesStored, eventsQueued, eventsStored } from '../stored.ts';
import { FIRST, numberEvents, type Round } from './number-events.ts';

/** Between the starts of two rounds; what is committed meanwhile is one round's work. */
const ROUND_MS = 50;
/** Until the next round after one that failed. */
const RETRY_MS = 1_000;

export interface SequencerOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly onRound?: (round: Round) => void;
}

export interface Sequencer {
  /** Ends the round under way and stops. */
  stop(): Promise<void>;
}

/**
 * The loop of a worker that numbers events. Three states: a full round is followed by the next one at once; as long as
 * events are found there is a round each 50 ms; otherwise it rests until it is woken. It is woken by what this process
 * stores, by notices of others, and, should one be lost, by `expandFanOuts`, which looks twice a second.
 */
export function startSequencer({ db, logger, onRound }: SequencerOptions): Sequencer {
  const stopping = new AbortController();
  let isWoken = true;
  let wakeUp: () => void = () => undefined;
  const wake = () => {
    isWoken = true;
    wakeUp();
  };
  const woken = () =>
    new Promise<void>((resolve) => {
      wakeUp = resolve;
      if (isWoken || stopping.signal.aborted) resolve();
    });

  async function run(): Promise<void> {
    let after = FIRST;
    while (!stopping.signal.aborted) {
      isWoken = false;
      const startedAt = performance.now();
      let restMs = ROUND_MS;
      try {
        const round = await numberEvents(db, after);
        onRound?.(round);
        isWoken ||= round.isBusy;
        if (round.isMore) restMs = 0;
        after = round.last;
      } catch (error) {
        logger.warn({ err: error }, 'events not numbered');
        isWoken = true;
        restMs = RETRY_MS;
      }
      await pause(Math.max(0, startedAt + restMs - performance.now()), stopping.signal);
      await woken();
    }
  }

  const signals = [eventsStored, deliveriesStored, eventsQueued];
  const subscriptions = signals.map((signal) => signal.subscribe(wake));
  const running = run();
  return {
    async stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
      stopping.abort();
      wake();
      await running;
    },
  };
}
