import { sql } from 'kysely';
import { readAssets } from '../../articles/images.ts';
import { ownedByJob } from '../../articles/lock.ts';
import { JOB_OWNED } from '../../articles/states.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Database, Queryable } from '../../db/database.ts';
import type { ArticleStatus } from '../../db/tables.ts';
import type { RefreshOptions, UnitKey } from '../../document/refresh/types.ts';
import type { PlannedRefresh } from '../../document/tasks/refresh.ts';
import { conflict, notFound } from '../../errors.ts';
import type { ArticleId } from '../../ids.ts';
import { writeJson } from '../../json-text.ts';
import { doTask } from '../../threads/pool.ts';
import { countBody, estimateCounted, refreshPrice, toWords } from '../price.ts';
import { readTexts, toSnapshot } from '../read-source.ts';
import { refuseUnknownUnits } from './named-units.ts';
import type { RefreshEstimate } from './schemas.ts';
import { sourceIdOf } from './tag.ts';
import { readVersion, type Version } from './version.ts';

/** The version to refresh, and how. */
export interface RefreshRequest {
  readonly articleId: ArticleId;
  /** What happens to units that no person has edited. Default: by the version's status. */
  readonly apply?: RefreshOptions['apply'] | undefined;
  /** Names of units to translate again, current ones too. Default: everything that is not current. */
  readonly units?: readonly string[] | undefined;
}

/** A refresh as planned, before anything is locked. */
export interface PreparedRefresh {
  readonly version: Version;
  readonly sourceId: ArticleId;
  readonly sourceLanguage: string;
  readonly released: boolean;
  /** True when units are named: they are translated again, whatever the memory has. */
  readonly bypassMemory: boolean;
  readonly planned: PlannedRefresh;
  /** What the changed units were translated from, as far as known: `UnitSources` as JSON text. */
  readonly oldSources: string;
  readonly estimate: RefreshEstimate;
  /** See `latestRefresh`. */
  readonly latest: string;
}

/** Statuses of versions that readers see or are about to see. */
const RELEASED: readonly ArticleStatus[] = ['APPROVED', 'PUBLISHED'];
export const isReleased = ({ row }: Version): boolean => RELEASED.includes(row.status);

/** Identifies the latest refresh of a version and its status: a plan is outdated when another refresh has ended since. */
export async function latestRefresh(db: Queryable, articleId: ArticleId): Promise<string> {
  const job = await db
    .selectFrom('jobs')
    .select(['id', 'status'])
    .where('article_id', '=', articleId)
    .where('purpose', '=', 'refresh')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return `${job?.id} ${job?.status}`;
}

/**
 * Plans and prices a refresh.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; FORBIDDEN; CONFLICT `job_running` or `source_gone`; INVALID_REQUEST for
 *   units that neither side has, and for a source that breaks a newer rule of the format
 */
export async function prepareRefresh(
  { db, actor }: VerbContext,
  { articleId, apply, units }: RefreshRequest,
): Promise<PreparedRefresh> {
  const { workspaceId } = actor;
  const latest = await latestRefresh(db, articleId);
  // Before the version: one that is deleted meanwhile is 404.
  const sourceId = await sourceIdOf(db, { workspaceId, articleId });
  const version = await readVersion(db, { workspaceId, articleId });
  if (version === undefined) throw notFound('article');
  if (JOB_OWNED.includes(version.row.status)) throw ownedByJob();
  const released = isReleased(version);
  const applied = apply ?? (released ? 'none' : 'untouched');
  if (released && applied === 'untouched') requirePermissions(actor, 'articles.publish');
  const texts = sourceId === null ? undefined : await readTexts(db, workspaceId, sourceId).executeTakeFirst();
  if (sourceId === null || texts === undefined) throw sourceGone();
  const source = toSnapshot(texts, await readAssets(db, workspaceId, sourceId));
  const { proposed } = await db
    .selectFrom('proposals')
    .select(
      sql<string>`coalesce(jsonb_agg(proposal - ${['oldSource', 'newSource']}::text[]), '[]')::text`.as(
        'proposed',
      ),
    )
    .where('article_id', '=', articleId)
    .executeTakeFirstOrThrow();
  const planned = await doTask(
    'planVersion',
    writeJson(source),
    version.content,
    version.provenance,
    proposed,
    {
      apply: applied,
      units,
      languages: { sourceLanguage: texts.primary_language, targetLanguage: version.row.primary_language },
    },
  );
  refuseUnknownUnits(planned.unknown, units ?? []);
  const wholePrice = estimateCounted(source, await countBody(source.document.text)).total;
  const estimate = {
    blocks: planned.blocks,
    changedBlocks: planned.changed.blocks,
    changedFields: planned.changed.fields,
    changedImages: planned.changed.images,
    words: toWords(planned.weight),
    total: refreshPrice(planned.sent, planned.weight, wholePrice),
  };
  return {
    version,
    sourceId,
    sourceLanguage: texts.primary_language,
    released,
    bypassMemory: units !== undefined,
    planned,
    oldSources: await readSources(db, articleId, planned.keys),
    estimate,
    latest,
  };
}

/** Reads only the sources of these units. */
async function readSources(db: Database, articleId: ArticleId, keys: readonly UnitKey[]): Promise<string> {
  const row = await db
    .selectFrom('article_provenance')
    .select(
      sql<string>`(SELECT coalesce(jsonb_object_agg(key, sources -> key), '{}')::text
        FROM unnest(${keys}::text[]) AS key WHERE sources ? key)`.as('sources'),
    )
    .where('article_id', '=', articleId)
    .executeTakeFirst();
  return row?.sources ?? '{}';
}

/** 409 for a version without a source. */
export const sourceGone = () =>
  conflict(
    'Only a translation whose source still exists can be refreshed. This article is not a translation, or its source was deleted.',
    'source_gone',
  );
