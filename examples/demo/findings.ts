import type { Article } from '../../src/articles/schemas.ts';
import type { VerbContext } from '../../src/context.ts';
import type { Wallet } from '../../src/credits/wallet.ts';
import type { WorkspaceId } from '../../src/ids.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import type { Api } from './api.ts';
import type { Comparison } from './compare.ts';
import type { Delivered } from './deliveries.ts';

/** What the steps find out, each for those after it. */
export interface Findings {
  operator: VerbContext;
  workspaceId: WorkspaceId;
  key: string;
  api: Api;
  source: Article;
  before: Wallet;
  idempotencyKey: string;
  job: Job;
  target: Article;
  comparison: Comparison;
  after: Wallet;
  deliveries: readonly Delivered[];
  /** Of the translation, in the Temporal UI; null without one. */
  runUrl: string | null;
}
