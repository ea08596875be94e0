import type { ArticleStatus, JobPurpose } from '../db/tables.ts';

/** Actions of people and API keys. A job's status changes belong to its workflow. */
export type ArticleAction =
  | 'edit'
  | 'submit'
  | 'approve'
  | 'reject'
  | 'request_changes'
  | 'publish'
  | 'unpublish'
  | 'delete'
  | 'attach'
  | 'detach';

interface Transition {
  readonly from: readonly ArticleStatus[];
  /** `same` keeps the status. */
  readonly to: ArticleStatus | 'DELETED' | 'same';
}

/** Only a job moves an article out of these (contract.md R1). */
export const JOB_OWNED: readonly ArticleStatus[] = ['QUEUED', 'PROCESSING'];

/** Open jobs of these purposes own their article; a refresh or a regeneration of an image does not. */
export const OWNING: readonly JobPurpose[] = ['translate', 'generate', 'outline'];

const AT_REST: readonly ArticleStatus[] = [
  'DRAFT',
  'NEEDS_REVIEW',
  'CHANGES_REQUESTED',
  'APPROVED',
  'PUBLISHED',
];
const UNPUBLISHED = AT_REST.filter((status) => status !== 'PUBLISHED');
const REVIEWABLE: readonly ArticleStatus[] = ['NEEDS_REVIEW', 'APPROVED', 'PUBLISHED'];

/** The state machine of contract.md R1: any move not in this table is 409. */
export const TRANSITIONS = {
  edit: { from: AT_REST, to: 'same' },
  submit: { from: ['DRAFT', 'CHANGES_REQUESTED'], to: 'NEEDS_REVIEW' },
  approve: { from: ['NEEDS_REVIEW'], to: 'APPROVED' },
  reject: { from: REVIEWABLE, to: 'CHANGES_REQUESTED' },
  request_changes: { from: REVIEWABLE, to: 'CHANGES_REQUESTED' },
  publish: { from: ['APPROVED'], to: 'PUBLISHED' },
  unpublish: { from: ['PUBLISHED'], to: 'DRAFT' },
  delete: { from: AT_REST, to: 'DELETED' },
  attach: { from: UNPUBLISHED, to: 'same' },
  detach: { from: UNPUBLISHED, to: 'same' },
} as const satisfies Record<ArticleAction, Transition>;

/** True when the action is allowed on an article of that status. */
export const allows = (action: ArticleAction, from: ArticleStatus): boolean => {
  const transition: Transition = TRANSITIONS[action];
  return transition.from.includes(from);
};
