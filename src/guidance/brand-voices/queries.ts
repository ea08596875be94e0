import { sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';

/**
 * The instructions that a generation is written by (contract.md G53): of the voice it names, else of the project's default,
 * else of the workspace's. Null without any. An id that the workspace does not have counts as none.
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
