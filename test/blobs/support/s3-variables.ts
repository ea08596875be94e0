import type { S3Server } from '../../support/s3-server.ts';

/** What a process needs to keep its images in the bucket of a test. */
export const s3Variables = ({ settings }: S3Server): Record<string, string> => ({
  BLOB_STORE: 's3',
  S3_ENDPOINT: settings.endpoint,
  S3_BUCKET: settings.bucket,
  S3_REGION: settings.region,
  S3_SSE: settings.encryption ?? '',
  S3_ACCESS_KEY_ID: settings.accessKeyId,
  S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
});
