import { requirePermissions, type VerbContext } from '../context.ts';
import { isoText } from '../db/iso-text.ts';
import { textStatement } from '../db/prepared.ts';
import { iso } from '../fields.ts';
import { type PageRequest, readPage } from '../http/paging.ts';
import type { ListPage } from '../http/stream-list.ts';
import type { ApiKeyId } from '../ids.ts';
import type { ApiKeyItem } from './schemas.ts';

/** Keys of a page. The widest, with a label of 120 control characters, are 1.1 KB as JSON each. */
const PAGE_KEYS = 200;

/** Where a page of keys ended. */
export interface KeyPosition {
  /** A time as Postgres writes it. */
  readonly at: string;
  readonly id: ApiKeyId;
}

export const BEFORE_ALL_KEYS: KeyPosition = {
  at: '-infinity',
  id: '00000000-0000-0000-0000-000000000000' as ApiKeyId,
};

/** JSON is built by Postgres: ended keys stay, so there may be very many. */
const pageOfKeys = textStatement<{ id: ApiKeyId; at: string; item: string }>(
  'page_of_api_keys',
  `SELECT id, created_at::text AS at, json_build_object('id', id, 'label', label, 'prefix', prefix, 'roleId', role_id,
     'createdAt', ${isoText('created_at')}, 'lastUsedAt', ${isoText('last_used_at')},
     'expiresAt', ${isoText('expires_at')}, 'revokedAt', ${isoText('revoked_at')})::text AS item
   FROM api_keys WHERE workspace_id = $1 AND (created_at, id) > ($2::timestamptz, $3::uuid)
   ORDER BY created_at, id LIMIT ${PAGE_KEYS}`,
);

/**
 * The keys of the workspace after a position, revoked and expired ones included, oldest first (contract.md K3).
 * @returns ApiKeyItems as JSON
 */
export async function readKeys(
  { db, actor }: VerbContext,
  after: KeyPosition,
): Promise<ListPage<KeyPosition>> {
  requirePermissions(actor, 'api_keys.read');
  const rows = await pageOfKeys(db, actor.workspaceId, after.at, after.id);
  const last = rows.length === PAGE_KEYS ? rows.at(-1) : undefined;
  return {
    items: rows.map(({ item }) => item),
    last: last === undefined ? null : { at: last.at, id: last.id },
  };
}

/** One page of the workspace's keys, newest first (api_keys.read). */
export async function listNewestKeys(
  { db, actor }: VerbContext,
  page: PageRequest<ApiKeyId>,
): Promise<{ keys: ApiKeyItem[]; nextCursor: string | null }> {
  requirePermissions(actor, 'api_keys.read');
  const query = db
    .selectFrom('api_keys')
    .select(['id', 'label', 'prefix', 'role_id', 'created_at', 'last_used_at', 'expires_at', 'revoked_at'])
    .where('workspace_id', '=', actor.workspaceId);
  const { rows, nextCursor } = await readPage(db, query, page);
  const optional = (time: Date | null): string | null => (time === null ? null : iso(time));
  return {
    keys: rows.map((row) => ({
      id: row.id,
      label: row.label,
      prefix: row.prefix,
      roleId: row.role_id,
      createdAt: iso(row.created_at),
      lastUsedAt: optional(row.last_used_at),
      expiresAt: optional(row.expires_at),
      revokedAt: optional(row.revoked_at),
    })),
    nextCursor,
  };
}
