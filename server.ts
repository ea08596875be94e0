import './src/tracing/start.ts';
import { loadConfig, requireAddresses } from './src/config.ts';
import { createLogger } from './src/logger.ts';
import { runUntilSignal, STOP_DEADLINE_MS } from './src/processes/lifecycle.ts';
import { startServer } from './src/processes/server.ts';

const logger = createLogger(process.env.LOG_LEVEL || 'info', 'server');
await runUntilSignal(logger, STOP_DEADLINE_MS.server, async () => {
  const server = await startServer(requireAddresses(loadConfig()), logger);
  logger.info(`listening on ${server.url}`);
  return server;
});
