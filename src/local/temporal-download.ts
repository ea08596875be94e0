/**
 * Run as a process of its own: has the Temporal SDK download the CLI into a folder.
 *
 *     node temporal-download.ts <folder> <version>
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [downloadDir, version] = process.argv.slice(2);
if (downloadDir === undefined || version === undefined)
  throw new Error('usage: temporal-download <folder> <version>');

// The SDK downloads only to start a server: it is started, and ended at once.
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir, version } },
});
await environment.teardown();
