import { lockArticle } from '../../articles/lock.ts';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { MarkedUnitPairs } from '../../document/tasks/attach.ts';
import type { MarkedVersion } from '../../document/tasks/refresh.ts';
import { invalid } from '../../errors.ts';
import type { ArticleId } from '../../ids.ts';
import { keepProvenance } from '../provenance.ts';
import { auditedUnits, refuseUnknownUnits } from './named-units.ts';
import { sourceGone } from './prepare.ts';
import { matchState, sourceIdOf } from './tag.ts';
import { readSide, type VersionWork, versionTask, withVersion } from './version.ts';

/** Units of a version to mark: names as proposals have them, all that both sides have, or pairs of units. */
export interface MarkCurrent {
  readonly articleId: ArticleId;
  readonly units?: readonly string[] | 'all' | undefined;
  readonly pairs?: readonly { readonly source: string; readonly version: string }[] | undefined;
}

/**
 * Makes what stands in a version a person's translation of the present source (articles.update; contract.md T51). The
 * content stays as it is, and open proposals of these units go. A pair takes precedence over what was paired before
 * (contract.md T71): a unit of the source whose block it takes has none from then on, and its proposal goes as well.
 * @param ifMatch the If-Match header: the tag of the state that was read
 * @returns the number of marked units
 * @throws {ServiceError} INVALID_REQUEST without If-Match, for a unit that neither side has, or one that several pairs name; PRECONDITION_FAILED; CONFLICT
 *   `job_running` or `source_gone`
 */
export async function markCurrent(
  context: VerbContext,
  { articleId, units, pairs }: MarkCurrent,
  ifMatch: string | undefined,
): Promise<number> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  requireSensible({ units, pairs });
  const { workspaceId } = actor;
  const version = { workspaceId, articleId };
  const sourceId = await sourceIdOf(db, version);
  const requireSame = await matchState(db, version, sourceId, ifMatch);
  const source = sourceId === null ? undefined : await readSide(db, workspaceId, sourceId);
  if (sourceId === null || source === undefined) throw sourceGone();
  const named = units === 'all' || units === undefined ? null : units;
  const at = new Date().toISOString();
  const work: VersionWork<MarkedVersion | MarkedUnitPairs> =
    pairs === undefined
      ? versionTask('markCurrent', ({ content, provenance }) => [source, content, provenance, named, at])
      : versionTask('markPairs', ({ content, provenance }) => [
          source,
          content,
          provenance,
          JSON.stringify(pairs),
          at,
        ]);
  return withVersion(db, version, work, async (tx, worked) => {
    const before = await lockArticle(tx, workspaceId, articleId, 'edit');
    await requireSame(tx);
    const { output } = await worked();
    if ('displaced' in output) {
      if (output.unknown !== null) {
        const { index, side } = output.unknown;
        throw invalid(`/pairs/${index}/${side}`, `The ${side} does not have this unit.`);
      }
    } else {
      refuseUnknownUnits(output.unknown, named ?? []);
    }
    const { keys } = output;
    if (keys.length === 0) return 0;
    const moved = 'displaced' in output ? output.displaced : [];
    await keepProvenance(tx, before, sourceId, output.decided);
    await tx
      .deleteFrom('proposals')
      .where('article_id', '=', articleId)
      .where((eb) => eb('unit', '=', eb.fn.any(eb.val([...keys, ...moved]))))
      .execute();
    await recordAudit(tx, context, {
      action: 'translations.marked_current',
      targetType: 'article',
      targetId: articleId,
      details: { marked: keys.length, units: auditedUnits(keys) },
    });
    return keys.length;
  });
}

function requireSensible({ units, pairs }: Pick<MarkCurrent, 'units' | 'pairs'>): void {
  if ((units === undefined) === (pairs === undefined)) throw invalid('', 'Send either `units` or `pairs`.');
  for (const side of ['source', 'version'] as const) {
    const seen = new Set<string>();
    for (const [index, pair] of (pairs ?? []).entries()) {
      if (seen.has(pair[side])) throw invalid(`/pairs/${index}/${side}`, 'Another pair has this unit, too.');
      seen.add(pair[side]);
    }
  }
}
