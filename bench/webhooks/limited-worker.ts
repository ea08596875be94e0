/** `npm run worker` with fewer requests in flight than it would have: BENCH_IN_FLIGHT. */
import { loadConfig, requireAddresses } from '../../src/config.ts';
import { createLogger } from '../../src/logger.ts';
import { startWorker } from '../../src/processes/worker.ts';
import { createCapacity } from '../../src/webhooks/relay/capacity.ts';
import { announce } from '../lib/child.ts';

const config = requireAddresses(loadConfig());
const capacity = createCapacity({ maxInFlight: Number(process.env.BENCH_IN_FLIGHT) });
const worker = await startWorker(config, createLogger(config.LOG_LEVEL, 'worker'), { capacity });
announce('', () => worker.stop());
