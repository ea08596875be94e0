import { type Selectable, sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { clockTimestamp } from '../../db/clock.ts';
import type { Queryable, Tx } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../errors.ts';
import { iso } from '../../fields.ts';
import type { BrandVoiceId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { BrandVoice, BrandVoiceSummary } from './schemas.ts';

const SUMMARY = ['id', 'name', 'is_default', 'created_at', 'updated_at'] as const;
export const VOICE_COLUMNS = [...SUMMARY, 'instructions'] as const;

type Row = Selectable<Tables['brand_voices']>;

const toSummary = (row: Pick<Row, (typeof SUMMARY)[number]>): BrandVoiceSummary => ({
  id: row.id,
  name: row.name,
  isDefault: row.is_default,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** The wire form of a voice's row. */
export const toVoice = (row: Pick<Row, (typeof VOICE_COLUMNS)[number]>): BrandVoice => ({
  ...toSummary(row),
  instructions: row.instructions,
});

export const noSuchVoice = () => notFound('brand voice');

/** The row of one voice of the workspace. */
export const selectVoice = (db: Queryable, workspaceId: WorkspaceId, id: BrandVoiceId) =>
  db
    .selectFrom('brand_voices')
    .select(VOICE_COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id);

/** Every voice of the workspace by name, without its instructions (articles.read). */
export async function listBrandVoices({ db, actor }: VerbContext): Promise<BrandVoiceSummary[]> {
  requirePermissions(actor, 'articles.read');
  const rows = await db
    .selectFrom('brand_voices')
    .select(SUMMARY)
    .where('workspace_id', '=', actor.workspaceId)
    .orderBy('name')
    .execute();
  return rows.map(toSummary);
}

/**
 * One voice of the workspace (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function readBrandVoice({ db, actor }: VerbContext, id: BrandVoiceId): Promise<BrandVoice> {
  requirePermissions(actor, 'articles.read');
  return toVoice(await selectVoice(db, actor.workspaceId, id).executeTakeFirstOrThrow(noSuchVoice));
}

/** Takes the default from the voice that has it; the caller has locked the workspace. */
export async function clearDefault(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  await tx
    .updateTable('brand_voices')
    .set({ is_default: false, updated_at: clockTimestamp })
    .where('workspace_id', '=', workspaceId)
    .where('is_default', '=', true)
    .execute();
}

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
