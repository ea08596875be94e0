import { findFormerBlob, type ServedBlob } from '../articles/former-blobs.ts';
import { contentMark } from '../blobs/asset.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { rethrowUnread } from '../blobs/unavailable.ts';
import type { Database } from '../db/database.ts';
import { notFound } from '../errors.ts';
import { respond } from '../http/exchange.ts';
import type { Page } from '../http/pages.ts';
import { type AssetId, parseId } from '../ids.ts';
import { VARIANT_MEDIA_TYPE } from '../media/media.ts';

/**
 * Headers of an image. Any site may show it, but it never runs scripts: an SVG opened on its own is a download, and the
 * policy forbids scripts, forms and the service's origin.
 */
const imageHeaders = (mediaType: string): Record<string, string> => ({
  'Content-Type': mediaType,
  'Content-Disposition': mediaType === 'image/svg+xml' ? 'attachment' : 'inline',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'public, max-age=86400, immutable',
});

interface StoredImage {
  readonly content_hash: string;
  readonly media_type: string;
  readonly preview_hash: string | null;
  readonly thumbnail_hash: string | null;
}

/** The bytes of an image that have this mark: its own, its preview's or its thumbnail's. */
const shownAt = (mark: string, image: StoredImage): ServedBlob | undefined =>
  [
    { hash: image.content_hash, mediaType: image.media_type },
    { hash: image.preview_hash, mediaType: VARIANT_MEDIA_TYPE },
    { hash: image.thumbnail_hash, mediaType: VARIANT_MEDIA_TYPE },
  ].find((each): each is ServedBlob => each.hash !== null && contentMark(each.hash) === mark);

/** Bytes of an image that the connection of its reader holds, beside those that the store does. */
const BYTES_SENT = 32 * 1024;
/** How long an image waits until others have been taken. */
const ROOM_WAIT_MS = 10_000;

/**
 * Serves images without a key, at unguessable addresses: the asset's random id and a hash of its bytes (see `assetPath`),
 * also of a suspended workspace (contract.md L1 and L6).
 */
export const createAssetPages = ({ db, blobs }: { db: Database; blobs: BlobStore }): Page[] => [
  {
    path: '/assets/{assetId}/{mark}',
    serve: async (exchange, c) => {
      const id = parseId<AssetId>(c.req.param('assetId') ?? '');
      if (id === null) throw notFound('asset');
      const asset = await db
        .selectFrom('assets')
        .innerJoin('articles', 'articles.id', 'assets.article_id')
        .innerJoin('projects', 'projects.id', 'articles.project_id')
        .innerJoin('workspaces', 'workspaces.id', 'assets.workspace_id')
        .select(['content_hash', 'media_type', 'preview_hash', 'thumbnail_hash'])
        .where('assets.id', '=', id)
        .where('projects.deleted_at', 'is', null)
        .where('workspaces.deleted_at', 'is', null)
        .executeTakeFirst();
      const mark = c.req.param('mark') ?? '';
      const shown = asset && (shownAt(mark, asset) ?? (await findFormerBlob(db, id, mark)));
      if (shown === undefined) throw notFound('asset');
      const blob = await blobs.open(shown.hash).catch(rethrowUnread);
      if (blob === null) throw notFound('asset');
      const isHead = c.req.method === 'HEAD';
      if (!isHead)
        await exchange.room.take(Math.min(blob.size, BYTES_SENT + blob.bytesHeld), { waitMs: ROOM_WAIT_MS });
      return respond(exchange, 200, isHead ? null : blob.read(), {
        ...imageHeaders(shown.mediaType),
        'Content-Length': String(blob.size),
      });
    },
  },
];
