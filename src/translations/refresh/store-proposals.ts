import { sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import type { Proposal, UnitKey } from '../../document/refresh/types.ts';
import type { AppliedRefresh } from '../../document/tasks/refresh.ts';
import { type ArticleId, type JobId, newOrderedId, type ProposalId, type WorkspaceId } from '../../ids.ts';

/** The version that a job has refreshed, and its source. */
interface Refreshed {
  readonly workspaceId: WorkspaceId;
  readonly articleId: ArticleId;
  readonly sourceId: ArticleId;
}

/** Stores proposals, each in place of its unit's open one, and removes open ones of units that are settled. */
export async function storeProposals(
  tx: Tx,
  { workspaceId, articleId, sourceId }: Refreshed,
  jobId: JobId,
  { proposals, settled, changed }: AppliedRefresh,
): Promise<void> {
  const done: UnitKey[] = [...settled, ...changed.applied, ...proposals.map(({ key }) => key)];
  await sql`DELETE FROM proposals WHERE article_id = ${articleId} AND unit = ANY (${done}::text[])`.execute(
    tx,
  );
  // Lists are newest first, so the last proposal is inserted first.
  const rows = proposals.toReversed().map((proposal: Proposal) => ({
    id: newOrderedId<ProposalId>(),
    unit: proposal.key,
    proposal,
  }));
  await sql`
    INSERT INTO proposals (id, workspace_id, article_id, job_id, source_article_id, unit, proposal)
    SELECT id, ${workspaceId}, ${articleId}, ${jobId}, ${sourceId}, unit, proposal
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS made (id uuid, unit text, proposal jsonb)
  `.execute(tx);
}
