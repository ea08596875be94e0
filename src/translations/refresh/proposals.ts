import { sql } from 'kysely';
import { lockArticle } from '../../articles/lock.ts';
import { type ShownArticle, showArticle } from '../../articles/show.ts';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { releaseBytes, reserveBytes, storageQuotaExceeded } from '../../credits/storage-quota.ts';
import type { Database, Tx } from '../../db/database.ts';
import type { Proposal } from '../../document/refresh/types.ts';
import { conflict, ServiceError } from '../../errors.ts';
import { type PageRequest, readPage } from '../../http/paging.ts';
import type { ArticleId, ProposalId } from '../../ids.ts';
import { keepProvenance } from '../provenance.ts';
import type { ProposalResponse } from './schemas.ts';
import { type Version, versionTask, withVersion } from './version.ts';
import { writeChange } from './write.ts';

/** Identifies a proposal and its version. */
export interface ProposalPath {
  readonly articleId: ArticleId;
  readonly proposalId: ProposalId;
}

/** One page of a version's open proposals (articles.read): newest refresh first, then in the version's order. */
export async function listProposals(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  page: PageRequest<ProposalId>,
): Promise<{ proposals: ProposalResponse[]; nextCursor: string | null }> {
  requirePermissions(actor, 'articles.read');
  const query = db
    .selectFrom('proposals')
    .select(['id', 'article_id', 'job_id', 'created_at'])
    // Without what a response does not have, which is the larger part.
    .select(sql<Proposal>`proposal - ${['texts', 'behind', 'oldSource', 'newSource']}::text[]`.as('proposal'))
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId);
  const { rows, nextCursor } = await readPage(db, query, page);
  const proposals = rows.map(({ proposal: { key, action, reason, value }, ...row }) => ({
    id: row.id,
    articleId: row.article_id,
    jobId: row.job_id,
    unit: key,
    action,
    reason,
    value: value as ProposalResponse['value'],
    createdAt: row.created_at.toISOString(),
  }));
  return { proposals, nextCursor };
}

/**
 * Writes a proposal into its version (articles.update), as a save does.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, or `full` at the maximum number of blocks;
 *   PRECONDITION_FAILED when its unit has changed since; QUOTA_EXCEEDED for an image
 */
export async function acceptProposal(context: VerbContext, path: ProposalPath): Promise<ShownArticle> {
  requirePermissions(context.actor, 'articles.update');
  const { db, actor } = context;
  const { proposal } = await findProposal(db, context, path);
  const id = { ...path, workspaceId: actor.workspaceId };
  return withVersion(db, id, versionTask('accept', decidingAbout(proposal)), async (tx, worked) => {
    const { before, sourceId } = await takeProposal(tx, context, path);
    const { output: changed } = await worked();
    if (changed === 'full') {
      throw conflict('The article has the maximum number of blocks.', 'full');
    }
    if (changed === 'changed') {
      throw new ServiceError(
        'PRECONDITION_FAILED',
        'What the proposal would change has changed since. Refresh the version for a new one, or reject it.',
      );
    }
    const because = { proposalId: path.proposalId };
    const { after, bytes } = await writeChange(tx, context, before, { sourceId, changed, because });
    await recordDecision(tx, context, path, 'proposals.accepted', changed.applied);
    await releaseBytes(tx, actor.workspaceId, Math.max(0, -bytes));
    if (bytes > 0 && !(await reserveBytes(tx, actor.workspaceId, bytes))) throw storageQuotaExceeded(bytes);
    return showArticle(tx, after);
  });
}

/**
 * Rejects a proposal (articles.update). The version stays, and its unit counts as up to date with the source that the
 * proposal was made from.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`
 */
export async function rejectProposal(context: VerbContext, path: ProposalPath): Promise<void> {
  requirePermissions(context.actor, 'articles.update');
  const { db, actor } = context;
  const { proposal } = await findProposal(db, context, path);
  const id = { ...path, workspaceId: actor.workspaceId };
  await withVersion(db, id, versionTask('reject', decidingAbout(proposal)), async (tx, worked) => {
    const { before, sourceId, unit } = await takeProposal(tx, context, path);
    const { output: decided } = await worked();
    await keepProvenance(tx, before, sourceId, decided);
    await recordDecision(tx, context, path, 'proposals.rejected', [unit]);
  });
}

const decidingAbout =
  (proposal: string) =>
  ({ content, provenance }: Version): [string, string, string | null] => [proposal, content, provenance];

/** Also for a proposal that another request has just decided. */
const noSuchProposal = () =>
  new ServiceError(
    'RESOURCE_NOT_FOUND',
    'No such open proposal. It may have been accepted, rejected or replaced by a later refresh: list them again.',
  );

/** The proposal as JSON text. A replaced proposal has a new id. */
async function findProposal(
  db: Database,
  { actor }: VerbContext,
  { articleId, proposalId }: ProposalPath,
): Promise<{ proposal: string }> {
  const row = await db
    .selectFrom('proposals')
    .select(sql<string>`proposal::text`.as('proposal'))
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .where('id', '=', proposalId)
    .executeTakeFirstOrThrow(noSuchProposal);
  return row;
}

/** Locks the version and deletes the proposal, once. */
async function takeProposal(tx: Tx, { actor }: VerbContext, { articleId, proposalId }: ProposalPath) {
  const before = await lockArticle(tx, actor.workspaceId, articleId, 'edit');
  const row = await tx
    .deleteFrom('proposals')
    .where('article_id', '=', articleId)
    .where('id', '=', proposalId)
    .returning(['source_article_id', 'unit'])
    .executeTakeFirstOrThrow(noSuchProposal);
  return { before, sourceId: row.source_article_id, unit: row.unit };
}

const recordDecision = (
  tx: Tx,
  context: VerbContext,
  { articleId, proposalId }: ProposalPath,
  action: 'proposals.accepted' | 'proposals.rejected',
  units: readonly string[],
): Promise<void> =>
  recordAudit(tx, context, {
    action,
    targetType: 'proposal',
    targetId: proposalId,
    details: { articleId, units },
  });
