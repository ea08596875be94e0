import { type BlobStoreName, type Config, ConfigurationError, missingForStore } from '../config.ts';
import { type BlobStore, blobFolder, createLocalBlobStore } from './blob-store.ts';

/**
 * The store of BLOB_STORE, or the one that is named. The code for S3 is loaded where it is used: most commands of the
 * operator need none of it.
 * @throws {ConfigurationError} naming each variable that the store needs and that is not set
 */
export async function createBlobStore(
  config: Config,
  name: BlobStoreName = config.BLOB_STORE,
): Promise<BlobStore> {
  if (name === 'folder') return createLocalBlobStore(blobFolder(config.DATA_DIR));
  const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = config;
  if (
    S3_ENDPOINT === undefined ||
    S3_BUCKET === undefined ||
    S3_ACCESS_KEY_ID === undefined ||
    S3_SECRET_ACCESS_KEY === undefined
  ) {
    throw new ConfigurationError(`Set ${missingForStore(config, name).join(', ')}: the store s3 needs them.`);
  }
  const { createS3BlobStore } = await import('./s3/store.ts');
  return createS3BlobStore({
    endpoint: S3_ENDPOINT,
    bucket: S3_BUCKET,
    region: config.S3_REGION,
    pathStyle: config.S3_PATH_STYLE,
    encryption: config.S3_SSE,
    accessKeyId: S3_ACCESS_KEY_ID,
    secretAccessKey: S3_SECRET_ACCESS_KEY,
  });
}
