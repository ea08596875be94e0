import type { Tx } from '../db/database.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import { JsonText, writeJson } from '../json-text.ts';
import type { PreparedRefresh } from './refresh/prepare.ts';

/** What a translation or refresh was admitted for. */
export interface Recorded
  extends Pick<PreparedRefresh, 'sourceId' | 'sourceLanguage' | 'planned' | 'words'>,
    Partial<Pick<PreparedRefresh, 'oldSources' | 'released' | 'bypassMemory'>> {
  readonly workspaceId: WorkspaceId;
  readonly targetLanguage: string;
}

/** Stores the plan of an admitted job. */
export async function recordPlan(tx: Tx, jobId: JobId, recorded: Recorded): Promise<void> {
  const { sourceId, planned, words, oldSources = '{}', released = false, bypassMemory = false } = recorded;
  await tx
    .insertInto('translations')
    .values({
      job_id: jobId,
      workspace_id: recorded.workspaceId,
      source_article_id: sourceId,
      source_language: recorded.sourceLanguage,
      target_language: recorded.targetLanguage,
      snapshot: writeJson({
        plan: new JsonText(planned.plan),
        words,
        oldSources: new JsonText(oldSources),
        released,
        anew: bypassMemory,
        source: sourceId,
      }),
    })
    .execute();
}
