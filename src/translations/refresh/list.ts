import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Proposal, UnitKey } from '../../document/refresh/types.ts';
import { invalid, notFound } from '../../errors.ts';
import { type PageRequest, readPage } from '../../http/paging.ts';
import type { ArticleId, ProposalId } from '../../ids.ts';
import { doTask } from '../../threads/pool.ts';
import { readContent } from '../read-source.ts';
import type { ProposalResponse, TranslationState } from './schemas.ts';
import { sourceIdOf, stateTag } from './tag.ts';
import { readVersion } from './version.ts';

/** A page with the tag of the whole state, read before it (contract.md T48). */
export interface Tagged<Page> {
  readonly page: Page;
  readonly tag: string;
}

type ProposalValue = ProposalResponse['value'];

/**
 * One page of a version's open proposals (articles.read): newest refresh first, then in the version's order (contract.md
 * T47).
 */
export async function listProposals(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  request: PageRequest<ProposalId>,
): Promise<Tagged<{ proposals: ProposalResponse[]; nextCursor: string | null }>> {
  requirePermissions(actor, 'articles.read');
  const id = { workspaceId: actor.workspaceId, articleId };
  const tag = await stateTag(db, id, await sourceIdOf(db, id));
  const query = db
    .selectFrom('proposals')
    .select(['id', 'article_id', 'job_id', 'created_at'])
    .select(sql<Proposal>`proposal - ${['texts', 'behind']}::text[]`.as('proposal'))
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId);
  const { rows, nextCursor } = await readPage(db, query, request);
  const version = rows.length === 0 ? undefined : await readVersion(db, id);
  const keysAndImages = rows.map(({ proposal: { key, value } }) => ({
    key,
    value: value?.type === 'image' ? value : null,
  }));
  const current =
    version === undefined
      ? new Map<UnitKey, unknown>()
      : await doTask('currentValues', JSON.stringify(keysAndImages), version.content, version.provenance);
  const proposals = rows.map(({ proposal: { key, action, reason, ...texts }, ...row }) => ({
    id: row.id,
    articleId: row.article_id,
    jobId: row.job_id,
    unit: key,
    action,
    reason,
    oldSource: (texts.oldSource ?? null) as ProposalValue,
    newSource: (texts.newSource ?? null) as ProposalValue,
    current: (current.get(key) ?? null) as ProposalValue,
    value: texts.value as ProposalValue,
    createdAt: row.created_at.toISOString(),
  }));
  return { page: { proposals, nextCursor }, tag };
}

/**
 * One page of a version's units with their states (articles.read; contract.md T46).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; SERVICE_UNAVAILABLE when too many large documents are being processed
 */
export async function readTranslationState(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  { limit, from }: { readonly limit: number; readonly from: number },
): Promise<Tagged<TranslationState>> {
  requirePermissions(actor, 'articles.read');
  const { workspaceId } = actor;
  const id = { workspaceId, articleId };
  const sourceId = await sourceIdOf(db, id);
  const tag = await stateTag(db, id, sourceId);
  const version = await readVersion(db, id);
  if (version === undefined) throw notFound('article');
  const { content, provenance } = version;
  const source =
    sourceId === null || provenance === null ? undefined : await readContent(db, workspaceId, sourceId);
  if (source === undefined || provenance === null) {
    const tracking = provenance === null ? 'unmanaged' : 'source_gone';
    return { page: { sourceArticleId: sourceId, tracking, units: [], nextCursor: null }, tag };
  }
  const { units, total } = await doTask('listUnits', source, content, provenance, { from, most: limit });
  const open = await db
    .selectFrom('proposals')
    .select(['id', 'unit'])
    .where('article_id', '=', articleId)
    .where((eb) => eb('unit', '=', eb.fn.any(eb.val(units.map(({ unit }) => unit)))))
    .execute();
  const proposalOf = new Map(open.map((proposal) => [proposal.unit, proposal.id]));
  const next = from + units.length;
  return {
    page: {
      sourceArticleId: sourceId,
      tracking: 'managed',
      units: units.map((unit) => ({ ...unit, proposalId: proposalOf.get(unit.unit) ?? null })),
      nextCursor: next < total ? encodePlace(next) : null,
    },
    tag,
  };
}

const encodePlace = (place: number): string => Buffer.from(`units ${place}`).toString('base64url');

/** @throws {ServiceError} INVALID_REQUEST for text that is no cursor */
export function decodePlace(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [, place] = /^units (\d{1,6})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (place === undefined)
    throw invalid('query/cursor', 'Send the nextCursor of the previous page, unchanged.');
  return Number(place);
}
