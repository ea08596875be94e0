import type { Selectable } from 'kysely';
import { z } from 'zod';
import { imageColumns } from '../articles/images.ts';
import { assetPath, MAX_ALT_TEXT, MAX_FILE_NAME } from '../blobs/asset.ts';
import type { Tables } from '../db/tables.ts';
import { timestamp, trimmedText, urlText, uuid } from '../fields.ts';

export const assetSchema = z
  .object({
    id: uuid,
    articleId: uuid,
    workspaceId: uuid,
    role: z
      .enum(['hero', 'inline'])
      .meta({ description: 'hero is the cover; inline images show in the body.' }),
    mediaType: z.string(),
    byteSize: z.int().meta({
      description: 'Bytes of the image itself. The storage quota counts its preview and thumbnail, too.',
    }),
    fileName: z.string(),
    altText: z.string(),
    url: z.string().meta({
      description:
        'Where readers load the image, relative to the service and without a key. Changes when its bytes do.',
    }),
    width: z.int().nullable().meta({
      description:
        'Pixels. Null for an SVG without a size and for an image stored before sizes were recorded.',
    }),
    height: z.int().nullable(),
    previewUrl: z.string().nullable().meta({
      description:
        'A WebP of at most 1,200 pixels in width, the first frame of an animation. Null where the image itself is one, and as `thumbnailUrl`.',
    }),
    thumbnailUrl: z.string().nullable().meta({
      description:
        'A WebP of at most 320 pixels in width. Null for an SVG and for an image older than thumbnails.',
    }),
    prompt: z
      .string()
      .nullable()
      .meta({ description: 'What the image was generated from; null for an upload.' }),
    createdAt: timestamp,
  })
  .meta({ id: 'Asset' });

export type Asset = z.infer<typeof assetSchema>;

const altText = trimmedText(0, MAX_ALT_TEXT).meta({
  description: 'Used by image blocks that have none of their own.',
});

export const uploadQuery = z.object({
  fileName: trimmedText(1, MAX_FILE_NAME).optional(),
  altText: altText.optional(),
});

export const updateAssetBody = z.object({ altText });

export const heroFromUrlBody = z.object({
  url: urlText.meta({ description: 'http or https, at a public address.' }),
  altText: altText.optional(),
});

export const assetColumns = [
  ...imageColumns,
  'workspace_id',
  'article_id',
  'created_at',
] as const satisfies readonly (keyof Tables['assets'])[];

export type AssetRow = Pick<Selectable<Tables['assets']>, (typeof assetColumns)[number]>;

/** The wire form of an asset's row. */
export const toAsset = (row: AssetRow): Asset => ({
  id: row.id,
  articleId: row.article_id,
  workspaceId: row.workspace_id,
  role: row.role,
  mediaType: row.media_type,
  byteSize: row.byte_size,
  fileName: row.file_name,
  altText: row.alt_text,
  url: assetPath(row.id, row.content_hash),
  width: row.width,
  height: row.height,
  previewUrl: row.preview_hash && assetPath(row.id, row.preview_hash),
  thumbnailUrl: row.thumbnail_hash && assetPath(row.id, row.thumbnail_hash),
  prompt: row.prompt,
  createdAt: row.created_at.toISOString(),
});
