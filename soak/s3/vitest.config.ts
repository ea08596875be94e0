import { defineConfig } from 'vitest/config';
import { findGateway } from './gateway.ts';

/** `npm run test:s3`: the promises of the image store on the S3 of another house, where it is installed. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/blobs/store.test.ts'],
    env: { VERSITYGW: findGateway() ?? '' },
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
