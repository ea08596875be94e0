import { sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';

/**
 * The voice instructions of a generation (contract.md G53): of the requested voice, else the project's default, else the
 * workspace's, else null. An unknown id counts as omitted.
 */
export async function voiceFor(
  db: Queryable,
  wanted: {
    readonly workspaceId: WorkspaceId;
    readonly projectId: ProjectId;
    readonly brandVoiceId?: string | null | undefined;
  },
): Promise<string | null> {
  const named = sql<boolean>`v.id IS NOT DISTINCT FROM ${wanted.brandVoiceId ?? null}::uuid`;
  const ofProject = sql<boolean>`v.id IS NOT DISTINCT FROM p.default_brand_voice_id`;
  const row = await db
    .selectFrom('brand_voices as v')
    .leftJoin('projects as p', (join) =>
      join.onRef('p.workspace_id', '=', 'v.workspace_id').on('p.id', '=', wanted.projectId),
    )
    .select('v.instructions')
    .where('v.workspace_id', '=', wanted.workspaceId)
    .where((eb) => eb.or([named, ofProject, eb('v.is_default', '=', true)]))
    .orderBy(named, 'desc')
    .orderBy(ofProject, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.instructions ?? null;
}
