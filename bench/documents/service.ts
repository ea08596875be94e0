/** The whole service as `npm run server` runs it; also reports how long its event loop was blocked. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { loadConfig, requireAddresses } from '../../src/config.ts';
import { createLogger } from '../../src/logger.ts';
import { startServer } from '../../src/processes/server.ts';

/** Reply to any message: figures since the previous message. */
export interface LoopReport {
  /** The longest that the loop was late, in milliseconds. */
  readonly longestMs: number;
  /** Time in which it worked, in milliseconds. */
  readonly activeMs: number;
  /** Time of a processor that its thread used, in milliseconds. */
  readonly cpuMs: number;
  /** Resident memory of the process, in MiB. */
  readonly memoryMiB: number;
}

const RESOLUTION_MS = 1;

const config = requireAddresses(loadConfig());
const server = await startServer(config, createLogger(config.LOG_LEVEL, 'server'));
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let usage = performance.eventLoopUtilization();
let cpu = process.threadCpuUsage();
process.on('message', () => {
  const now = performance.eventLoopUtilization();
  const used = process.threadCpuUsage(cpu);
  const report: LoopReport = {
    longestMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
    activeMs: now.active - usage.active,
    cpuMs: (used.user + used.system) / 1000,
    memoryMiB: process.memoryUsage().rss / 2 ** 20,
  };
  usage = now;
  cpu = process.threadCpuUsage();
  delay.reset();
  process.send?.(report);
});
process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
process.send?.(server.url);
