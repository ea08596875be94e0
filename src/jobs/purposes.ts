import type { HoldPurpose, JobPurpose, JobStatus, JobStep, Tables } from '../db/tables.ts';

/** The first step of a run. */
export interface FirstStep {
  readonly status: JobStatus;
  readonly step: JobStep;
}

interface Purpose {
  readonly kind: Tables['jobs']['kind'];
  /** The purpose of its hold. */
  readonly hold: HoldPurpose;
  /** What its article becomes when it ends without a result; null for one that it never owned (contract.md G116). */
  readonly leaves: 'empty draft' | 'draft' | null;
  readonly first: FirstStep;
  /** True when its admission counts as one AI operation of the month: for runs that cost no credits. */
  readonly countsAsOperation: boolean;
}

const TRANSLATING: FirstStep = { status: 'TRANSLATING', step: 'translate' };
const VALIDATING: FirstStep = { status: 'VALIDATING', step: 'validate' };

/** What jobs/ needs to know of each purpose; the rest is its area's. */
export const PURPOSES: Readonly<Record<JobPurpose, Purpose>> = {
  translate: {
    kind: 'translation',
    hold: 'translation',
    leaves: 'empty draft',
    first: TRANSLATING,
    countsAsOperation: false,
  },
  refresh: {
    kind: 'translation',
    hold: 'refresh',
    leaves: null,
    first: TRANSLATING,
    countsAsOperation: false,
  },
  generate: {
    kind: 'generation',
    hold: 'generate',
    leaves: 'draft',
    first: VALIDATING,
    countsAsOperation: false,
  },
  outline: {
    kind: 'generation',
    hold: 'outline',
    leaves: 'draft',
    first: VALIDATING,
    countsAsOperation: true,
  },
  image: {
    kind: 'generation',
    hold: 'image',
    leaves: null,
    first: { status: 'GENERATING_IMAGES', step: 'images' },
    countsAsOperation: false,
  },
};
