import { lockArticle } from '../../articles/lock.ts';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { ArticleId } from '../../ids.ts';
import { keepProvenance } from '../provenance.ts';
import { readContent } from '../read-source.ts';
import { auditedUnits, refuseUnknownUnits } from './named-units.ts';
import { sourceGone } from './prepare.ts';
import { matchState, sourceIdOf } from './tag.ts';
import { versionTask, withVersion } from './version.ts';

/** Units of a version to mark: names as proposals have them, or all that both sides have. */
export interface MarkCurrent {
  readonly articleId: ArticleId;
  readonly units: readonly string[] | 'all';
}

/**
 * Makes what stands in a version a person's translation of the present source (articles.update; contract.md T51). The
 * content stays as it is, and open proposals of these units go.
 * @param ifMatch the If-Match header: the tag of the state that was read
 * @returns the number of marked units
 * @throws {ServiceError} INVALID_REQUEST without If-Match, or for a unit that neither side has; PRECONDITION_FAILED; CONFLICT
 *   `job_running` or `source_gone`
 */
export async function markCurrent(
  context: VerbContext,
  { articleId, units }: MarkCurrent,
  ifMatch: string | undefined,
): Promise<number> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  const { workspaceId } = actor;
  const version = { workspaceId, articleId };
  const sourceId = await sourceIdOf(db, version);
  const requireSame = await matchState(db, version, sourceId, ifMatch);
  const source = sourceId === null ? undefined : await readContent(db, workspaceId, sourceId);
  if (sourceId === null || source === undefined) throw sourceGone();
  const named = units === 'all' ? null : units;
  const at = new Date().toISOString();
  const work = versionTask('markCurrent', ({ content, provenance }) => [
    source,
    content,
    provenance,
    named,
    at,
  ]);
  return withVersion(db, version, work, async (tx, worked) => {
    const before = await lockArticle(tx, workspaceId, articleId, 'edit');
    await requireSame(tx);
    const { output } = await worked();
    refuseUnknownUnits(output.unknown, named ?? []);
    const { keys } = output;
    if (keys.length === 0) return 0;
    await keepProvenance(tx, before, sourceId, output.decided);
    await tx
      .deleteFrom('proposals')
      .where('article_id', '=', articleId)
      .where((eb) => eb('unit', '=', eb.fn.any(eb.val([...keys]))))
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
