import { sql } from 'kysely';
import { lockArticle } from '../../articles/lock.ts';
import { type ShownArticle, showArticle } from '../../articles/show.ts';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { releaseBytes, reserveBytes } from '../../credits/storage-quota.ts';
import type { Database, Tx } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict, invalid, ServiceError, type UndecidedProposal } from '../../errors.ts';
import type { ArticleId, JobId, ProposalId } from '../../ids.ts';
import { JsonText, writeJson } from '../../json-text.ts';
import { keepProvenance } from '../provenance.ts';
import { auditedUnits } from './named-units.ts';
import { MAX_NAMED } from './schemas.ts';
import { matchState, sourceIdOf } from './tag.ts';
import { type VersionId, versionTask, withVersion } from './version.ts';
import { writeChange } from './write.ts';

/** Ids of proposals; `all` stands for those that the other list does not name. */
export type Chosen = readonly ProposalId[] | 'all';

/** Decisions about open proposals of a version. */
export interface DecideProposals {
  readonly articleId: ArticleId;
  readonly accept?: Chosen | undefined;
  readonly reject?: Chosen | undefined;
}

/**
 * Accepts and rejects proposals of a version in one save, all or none (articles.update; contract.md T49).
 * @param ifMatch the If-Match header: the tag of the state that the decisions are about
 * @throws {ServiceError} INVALID_REQUEST without If-Match, or for contradicting lists; RESOURCE_NOT_FOUND for a proposal that
 *   is not open; PRECONDITION_FAILED; CONFLICT `job_running` or `not_applicable`
 */
export async function decideProposals(
  context: VerbContext,
  decisions: DecideProposals,
  ifMatch: string | undefined,
): Promise<ShownArticle> {
  requirePermissions(context.actor, 'articles.update');
  requireSensible(decisions);
  const version = { workspaceId: context.actor.workspaceId, articleId: decisions.articleId };
  const sourceId = await sourceIdOf(context.db, version);
  return decide(context, version, decisions, await matchState(context.db, version, sourceId, ifMatch));
}

/**
 * Accepts or rejects one proposal, whatever else has changed (articles.update; contract.md T36 and T37).
 * @throws {ServiceError} as `decideProposals`, but for If-Match
 */
export async function decideOne(
  context: VerbContext,
  articleId: ArticleId,
  decision: { readonly accept: readonly [ProposalId] } | { readonly reject: readonly [ProposalId] },
): Promise<ShownArticle> {
  requirePermissions(context.actor, 'articles.update');
  const version = { workspaceId: context.actor.workspaceId, articleId };
  return decide(context, version, { articleId, ...decision }, async () => undefined);
}

const namedIn = (chosen: Chosen | undefined): readonly ProposalId[] =>
  chosen === undefined || chosen === 'all' ? [] : chosen;

function requireSensible({ accept, reject }: DecideProposals): void {
  if (accept === undefined && reject === undefined) {
    throw invalid('', 'Send `accept`, `reject` or both.');
  }
  if (accept === 'all' && reject === 'all') throw invalid('/reject', 'Only one of the two can be "all".');
  const accepted = new Set(namedIn(accept));
  const both = namedIn(reject).findIndex((id) => accepted.has(id));
  if (both >= 0) throw invalid(`/reject/${both}`, 'This proposal is in `accept` as well.');
  if (accepted.size + namedIn(reject).length > MAX_NAMED) {
    throw invalid('/reject', `Name at most ${MAX_NAMED} proposals in one request.`);
  }
}

/** An open proposal that is decided about. */
interface ChosenProposal {
  readonly id: ProposalId;
  readonly jobId: JobId;
  readonly sourceId: ArticleId;
  readonly unit: string;
  readonly isAccepted: boolean;
  readonly proposal: JsonText;
}

async function decide(
  context: VerbContext,
  version: VersionId,
  decisions: DecideProposals,
  requireSame: (tx: Tx) => Promise<void>,
): Promise<ShownArticle> {
  const { db, actor } = context;
  const { workspaceId, articleId } = version;
  const chosen = await readChosen(db, version, decisions);
  const [newest] = chosen;
  const lock = async (tx: Tx) => {
    const before = await lockArticle(tx, workspaceId, articleId, 'edit');
    await requireSame(tx);
    return before;
  };
  if (newest === undefined) return inTransaction(db, async (tx) => showArticle(tx, await lock(tx)));
  const accepted = chosen.filter(({ isAccepted }) => isAccepted);
  const json = writeJson(
    chosen.map(({ id, jobId, isAccepted, proposal }) => ({ id, jobId, isAccepted, proposal })),
  );
  const at = new Date().toISOString();
  const work = versionTask('decide', ({ content, provenance }) => [json, content, provenance, at]);
  try {
    return await withVersion(db, version, work, async (tx, worked) => {
      const before = await lock(tx);
      await takeProposals(tx, articleId, chosen);
      const { output } = await worked();
      if (!output.ok) throw notApplicable(output.refused);
      const { sourceId } = newest;
      let after = before;
      if (output.changed === null) await keepProvenance(tx, before, sourceId, output.decided);
      else {
        const { changed } = output;
        const because = { proposals: accepted.length };
        const written = await writeChange(tx, context, before, { sourceId, changed, because });
        after = written.after;
        await releaseBytes(tx, actor.workspaceId, Math.max(0, -written.bytes));
        if (!(await reserveBytes(tx, actor.workspaceId, Math.max(0, written.bytes)))) {
          throw notApplicable(overQuota(accepted.filter(({ unit }) => unit.startsWith('image:'))));
        }
      }
      await recordDecisions(tx, context, articleId, chosen);
      return showArticle(tx, after);
    });
  } catch (error) {
    // The commit counts texts.
    const isOverQuota = error instanceof ServiceError && error.code === 'QUOTA_EXCEEDED';
    throw isOverQuota && accepted.length > 0 ? notApplicable(overQuota(accepted)) : error;
  }
}

/** Also for a proposal that another request has just decided. */
const noSuchProposal = () =>
  new ServiceError(
    'RESOURCE_NOT_FOUND',
    'No such open proposal. It may have been accepted, rejected or replaced by a later refresh: list them again.',
  );

/** The proposals that are decided about, newest refresh first. Those that nothing names are not read. */
async function readChosen(
  db: Database,
  { workspaceId, articleId }: VersionId,
  { accept, reject }: DecideProposals,
): Promise<ChosenProposal[]> {
  const accepted = new Set(namedIn(accept));
  const rejected = new Set(namedIn(reject));
  const named = accepted.union(rejected);
  let query = db
    .selectFrom('proposals')
    .select(['id', 'job_id', 'source_article_id', 'unit'])
    .select(sql<string>`(proposal - 'oldSource')::text`.as('proposal'))
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId);
  if (accept !== 'all' && reject !== 'all') query = query.where(isAmong([...named]));
  const rows = await query.orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
  const open = new Set(rows.map(({ id }) => id));
  if (!named.isSubsetOf(open)) throw noSuchProposal();
  return rows.map(({ id, job_id, source_article_id, unit, proposal }) => ({
    id,
    jobId: job_id,
    sourceId: source_article_id,
    unit,
    isAccepted: accept === 'all' ? !rejected.has(id) : accepted.has(id),
    proposal: new JsonText(proposal),
  }));
}

const isAmong = (ids: readonly ProposalId[]) => sql<boolean>`id = ANY (${ids}::uuid[])`;

/** Deletes the proposals, once. A replaced proposal has a new id. */
async function takeProposals(tx: Tx, articleId: ArticleId, chosen: readonly ChosenProposal[]): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('proposals')
    .where('article_id', '=', articleId)
    .where(isAmong(chosen.map(({ id }) => id)))
    .executeTakeFirstOrThrow();
  if (numDeletedRows !== BigInt(chosen.length)) throw noSuchProposal();
}

const overQuota = (proposals: readonly ChosenProposal[]): UndecidedProposal[] =>
  proposals.map(({ id }) => ({ id, reason: 'quota' }));

/** 409 that names the proposals that cannot be accepted. */
const notApplicable = (proposals: readonly UndecidedProposal[]): ServiceError =>
  conflict(
    'Some of the proposals cannot be accepted, so nothing was decided: what they would change has changed since, the article has the maximum number of blocks, or the storage quota is used up.',
    'not_applicable',
    { proposals: proposals.slice(0, MAX_NAMED) },
  );

async function recordDecisions(
  tx: Tx,
  context: VerbContext,
  articleId: ArticleId,
  chosen: readonly ChosenProposal[],
): Promise<void> {
  const record = async (action: string, decided: readonly ChosenProposal[]): Promise<void> => {
    if (decided.length === 0) return;
    await recordAudit(tx, context, {
      action,
      targetType: 'article',
      targetId: articleId,
      details: { proposals: decided.length, units: auditedUnits(decided.map(({ unit }) => unit)) },
    });
  };
  await record(
    'proposals.accepted',
    chosen.filter(({ isAccepted }) => isAccepted),
  );
  await record(
    'proposals.rejected',
    chosen.filter(({ isAccepted }) => !isAccepted),
  );
}
