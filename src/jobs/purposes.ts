import type { HoldPurpose, JobPurpose, Tables } from '../db/tables.ts';

interface Purpose {
  readonly kind: Tables['jobs']['kind'];
  /** What its hold is called. */
  readonly hold: HoldPurpose;
  /** What its article becomes when it ends without a result; null for one that it never owned. */
  readonly leaves: 'empty draft' | 'draft' | null;
}

/** What the foundation of paid jobs has to know of each purpose; the rest is its area's. */
export const PURPOSES: Readonly<Record<JobPurpose, Purpose>> = {
  translate: { kind: 'translation', hold: 'translation', leaves: 'empty draft' },
  refresh: { kind: 'translation', hold: 'refresh', leaves: null },
  generate: { kind: 'generation', hold: 'generate', leaves: 'draft' },
  outline: { kind: 'generation', hold: 'outline', leaves: 'draft' },
};
