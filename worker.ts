import './src/tracing/start.ts';
import { loadConfig, requireAddresses } from './src/config.ts';
import { createLogger } from './src/logger.ts';
import { runUntilSignal, STOP_DEADLINE_MS } from './src/processes/lifecycle.ts';
import { startWorker } from './src/processes/worker.ts';

const logger = createLogger(process.env.LOG_LEVEL || 'info', 'worker');
await runUntilSignal(logger, STOP_DEADLINE_MS.worker, async () => {
  const worker = await startWorker(requireAddresses(loadConfig()), logger);
  logger.info('worker started');
  return worker;
});
