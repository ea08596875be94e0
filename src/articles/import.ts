import path from 'node:path';
import { recordAudit } from '../audit/record.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { nameBlobs, stageBlobs } from '../blobs/references.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { reserveBytes, storageQuotaExceeded } from '../credits/storage-quota.ts';
import type { Tx } from '../db/database.ts';
import { checkQuotasNow } from '../db/quotas.ts';
import { rehearse } from '../db/savepoint.ts';
import { inTransaction } from '../db/transaction.ts';
import { MAX_TITLE } from '../document/format/limits.ts';
import { cutAtWord } from '../document/text/characters.ts';
import { bytesOf, type SourceAsset } from '../document/translation/source.ts';
import { recordEvents } from '../events/record.ts';
import { type ArticleId, newId, type ProjectId, type TranslationGroupId } from '../ids.ts';
import { blobsOf, type MediaProcessor } from '../media/media.ts';
import { lockLanguages, requireProjectLanguage } from '../projects/languages.ts';
import { insertAssets, mediaFields } from './images.ts';
import { readImportFile } from './import-file.ts';
import { insertArticle } from './insert.ts';
import { storeLinks } from './links/store.ts';
import { renderingColumns } from './rendering.ts';

/** The statuses that an import can give an article. */
export const IMPORT_STATUSES = ['DRAFT', 'NEEDS_REVIEW', 'APPROVED', 'PUBLISHED'] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

export interface ImportContext extends VerbContext {
  readonly blobs: BlobStore;
  readonly media: MediaProcessor;
}

export interface ImportArticleInput {
  readonly projectId: ProjectId;
  /** Canonical language tag, one of the project's. */
  readonly language: string;
  /** Path of a Markdown or documentJson file on this machine. */
  readonly file: string;
  readonly status: ImportStatus;
  /** 1 to 300 characters, trimmed; else the first heading or the file's name. */
  readonly title?: string | undefined;
  /** The target keywords, in order. */
  readonly keywords: readonly string[];
}

export interface ImportedArticle {
  readonly articleId: ArticleId;
  readonly translationGroupId: TranslationGroupId;
  readonly wordCount: number;
  /** What could not be imported, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Creates an article from a file on this machine; operators only. Local images become assets that count toward the storage
 * quota. Emits only article.created, whatever the status.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for the project, INVALID_REQUEST for a language it lacks or a
 *   file that is not a valid article, QUOTA_EXCEEDED for images that do not fit; no row is written then
 */
export async function importArticle(
  context: ImportContext,
  input: ImportArticleInput,
): Promise<ImportedArticle> {
  requireOperator(context.actor);
  const { db, blobs, actor } = context;
  const { projectId, language, status } = input;
  const { workspaceId } = actor;
  await inTransaction(db, async (tx) =>
    requireProjectLanguage('/language', language, await lockLanguages(tx, workspaceId, projectId)),
  );

  const {
    body: { stored: document, rendered },
    assets,
    warnings,
    title: found,
  } = await readImportFile(input.file, input.title !== undefined, (bytes) =>
    context.media.processUpload(bytes, '/file'),
  );
  const title = input.title ?? titleFrom(found, input.file);
  const wordCount = document.words;
  const added = assets.map(
    ({ id, image, fileName, altText }): SourceAsset => ({
      id,
      role: 'inline',
      fileName,
      altText,
      ...mediaFields(image),
      prompt: null,
    }),
  );
  const newBlobs = assets.flatMap(({ image }) => blobsOf(image));

  const articleId = newId<ArticleId>();
  const translationGroupId = newId<TranslationGroupId>();
  const insert = async (tx: Tx): Promise<void> => {
    requireProjectLanguage('/language', language, await lockLanguages(tx, workspaceId, projectId));
    await insertArticle(
      tx,
      {
        id: articleId,
        workspace_id: workspaceId,
        project_id: projectId,
        title,
        status,
        document: document.json,
        ...renderingColumns(rendered),
        target_keywords: [...input.keywords],
        primary_language: language,
        translation_group_id: translationGroupId,
        word_count: wordCount,
        ...(status === 'PUBLISHED' ? { published_at: new Date() } : {}),
      },
      actor,
    );
    const bytes = bytesOf(added);
    if (!(await reserveBytes(tx, workspaceId, bytes))) throw storageQuotaExceeded(bytes);
  };
  const staged = await stageBlobs(db, blobs, newBlobs, (tx) =>
    rehearse(tx, async () => {
      await insert(tx);
      await checkQuotasNow(tx);
    }),
  );
  await inTransaction(db, async (tx) => {
    await insert(tx);
    await storeLinks(tx, context, articleId, null, rendered.places);
    await nameBlobs(tx, staged);
    await insertAssets(tx, workspaceId, articleId, added);
    await recordEvents(tx, context, [{ type: 'article.created', data: { articleId, projectId, title } }]);
    await recordAudit(tx, context, {
      action: 'articles.imported',
      targetType: 'article',
      targetId: articleId,
      details: {
        projectId,
        language,
        status,
        title,
        fileName: path.basename(input.file),
        images: assets.length,
      },
    });
  });
  return { articleId, translationGroupId, wordCount, warnings };
}

/** The heading on one line, or the file's name without its extension. */
function titleFrom(heading: string | null, file: string): string {
  const oneLine = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim();
  const title = oneLine(heading ?? '') || oneLine(path.parse(file).name) || 'Untitled';
  return cutAtWord(title, MAX_TITLE);
}
