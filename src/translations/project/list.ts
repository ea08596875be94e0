import { summaryColumns } from '../../articles/queries.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { asService } from '../../db/guard.ts';
import type { StateCounts } from '../../document/refresh/types.ts';
import { encodeCursor, type PageRequest, readPage } from '../../http/paging.ts';
import type { ArticleId, ProjectId } from '../../ids.ts';
import { latestJobs, toListed } from '../list.ts';
import { knownStates } from '../states.ts';
import type { CatchUp } from './catch-up.ts';
import { countedTogether, countInTurn, LOOKED_AT, type LookedAt, lookAt } from './count.ts';
import type { ProjectTranslationPage, StateFilter } from './schemas.ts';

export interface ProjectTranslationFilter extends PageRequest<ArticleId> {
  readonly projectId: ProjectId;
  readonly state?: StateFilter | undefined;
  /** Canonical tag. */
  readonly language?: string | undefined;
}

/** Undefined for a version whose states are unknown. */
type StatesOf = (version: LookedAt) => StateCounts | null | undefined;

/** The versions of a page: those that match the filter, up to the limit. `end` is behind the last one looked at for them. */
function choose(
  looked: readonly LookedAt[],
  statesOf: StatesOf,
  state: StateFilter | undefined,
  limit: number,
) {
  const matching: LookedAt[] = [];
  for (const [index, version] of looked.entries()) {
    const states = statesOf(version);
    const isUnknown = states === undefined;
    if (state === undefined || (state === 'unknown' ? isUnknown : (states?.[state] ?? 0) > 0))
      matching.push(version);
    if (matching.length === limit) return { matching, end: index + 1 };
  }
  return { matching, end: looked.length };
}

/**
 * One page of the versions of a project, newest first, with how they compare with their sources (articles.read). Counts some
 * of the unknown states itself, unless unknown ones are requested, and has the others counted in the background (contract.md
 * T61 to T64). With a filter a page may be short or empty and have a `nextCursor` all the same.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when too many large documents are being processed
 */
export async function listProjectTranslations(
  context: VerbContext & { readonly catchUp: Pick<CatchUp, 'add'> },
  { projectId, state, language, limit, position }: ProjectTranslationFilter,
): Promise<ProjectTranslationPage> {
  const { db, actor, catchUp } = context;
  requirePermissions(actor, 'articles.read');
  const { workspaceId } = actor;
  const most = state === undefined ? limit : LOOKED_AT;
  const found = await lookAt(db, { workspaceId, projectId, language }, position, most + 1).execute();
  const looked = found.slice(0, most);

  const { end: reach } = choose(looked, knownStates, state, limit);
  const unknown = looked.slice(0, reach).filter((version) => knownStates(version) === undefined);
  const counting = state === 'unknown' ? [] : countedTogether(unknown);
  const counted =
    counting.length === 0
      ? new Map<ArticleId, StateCounts>()
      : // What cannot be compared stays unknown; the background reports it.
        await countInTurn(asService(db), workspaceId, counting, () => undefined);
  const statesOf: StatesOf = (version) => counted.get(version.id) ?? knownStates(version);
  const isUnknown = (version: LookedAt): boolean => statesOf(version) === undefined;
  if (unknown.some(isUnknown)) catchUp.add(workspaceId, projectId);

  const { matching, end } = choose(looked, statesOf, state, limit);
  const ids = matching.map(({ id }) => id);
  const page = await readSummaries(context, ids);
  const last = page.isCut ? page.rows.at(-1) : looked[end - 1];
  const isLast = !page.isCut && end === found.length;
  const passed = looked.slice(0, page.isCut ? looked.findIndex(({ id }) => id === last?.id) + 1 : end);
  const jobOf = await latestJobs(
    context,
    page.rows.map(({ id }) => id),
  );
  const versionOf = new Map(looked.map((version) => [version.id, version]));
  return {
    translations: page.rows.flatMap((row) => {
      const version = versionOf.get(row.id);
      if (version === undefined) return [];
      const states = statesOf(version);
      return {
        ...toListed({ ...version, ...row }, jobOf.get(row.id), states ?? null, states === undefined),
        state: states === undefined ? ('unknown' as const) : ('known' as const),
      };
    }),
    unknown: passed.filter(isUnknown).length,
    nextCursor: isLast || last === undefined ? null : encodeCursor({ at: last.created_at, id: last.id }),
  };
}

/** The summaries of these articles, newest first, as many as fit into a page. */
async function readSummaries({ db, actor }: VerbContext, ids: readonly ArticleId[]) {
  if (ids.length === 0) return { rows: [], isCut: false };
  const query = db
    .selectFrom('articles')
    .select(summaryColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', 'in', ids);
  const { rows, nextCursor } = await readPage(db, query, { limit: ids.length, position: null });
  return { rows, isCut: nextCursor !== null };
}
