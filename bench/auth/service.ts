/** The whole service as `npm run server` runs it. */

import { loadConfig, requireAddresses } from '../../src/config.ts';
import { createLogger } from '../../src/logger.ts';
import { startServer } from '../../src/processes/server.ts';
import { stopTracing } from '../../src/tracing/start.ts';
import { announce } from '../lib/child.ts';

const config = requireAddresses(loadConfig());
const server = await startServer(config, createLogger(config.LOG_LEVEL, 'server'));
announce(server.url, async () => {
  await server.stop();
  await stopTracing();
});
