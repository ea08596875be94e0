import type { EndpointId } from '../../ids.ts';
import { WALK_START } from './claim.ts';

/** A scan takes at most a fifth of the time. */
const PAUSE_PER_SCAN = 4;
/** What is new waits no longer than this for a look. */
const LONGEST_LOOK_PAUSE_MS = 25;
const LONGEST_WALK_PAUSE_MS = 5_000;

/** A look at the latest deliveries. However many commits want one, the next one serves them all. */
export interface Look {
  want(): void;
  /** When it may begin; Infinity while nobody wants it. */
  dueAt(): number;
  began(): void;
  /** @param took milliseconds of its claim, which ended at `now` */
  ended(now: number, took: number): void;
}

export function createLook(): Look {
  let isWanted = true;
  let notBefore = 0;
  return {
    want() {
      isWanted = true;
    },
    dueAt: () => (isWanted ? notBefore : Number.POSITIVE_INFINITY),
    began() {
      isWanted = false;
    },
    ended(now, took) {
      notBefore = now + Math.min(LONGEST_LOOK_PAUSE_MS, took * PAUSE_PER_SCAN);
    },
  };
}

/** A walk past all endpoints with open deliveries, in steps of one claim each. */
export interface Walk {
  want(): void;
  /** When its next step may begin; Infinity while none is left and nobody wants another walk. */
  dueAt(): number;
  /** @returns where the step begins */
  began(): EndpointId;
  /** @param walkedTo where the next step begins; null at the end of the walk */
  ended(now: number, took: number, walkedTo: EndpointId | null): void;
}

export function createWalk(): Walk {
  let isWanted = true;
  let notBefore = 0;
  let walkedTo: EndpointId | null = null;
  return {
    want() {
      isWanted = true;
    },
    dueAt: () => (isWanted || walkedTo !== null ? notBefore : Number.POSITIVE_INFINITY),
    began() {
      // What is wanted in the middle of a walk needs another one.
      if (walkedTo === null) isWanted = false;
      return walkedTo ?? WALK_START;
    },
    ended(now, took, to) {
      walkedTo = to;
      notBefore = now + Math.min(LONGEST_WALK_PAUSE_MS, took * PAUSE_PER_SCAN);
    },
  };
}
