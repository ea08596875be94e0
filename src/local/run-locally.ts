import { EventEmitter } from 'node:events';
import { type Logger, pino } from 'pino';
import { type Config, ConfigurationError, loadConfig } from '../config.ts';
import { createLogger } from '../logger.ts';
import { stopTracing } from '../tracing/start.ts';
import { type LocalService, startLocalService, UserError, untilAborted } from './service.ts';

/** A repeated signal within this time is the same Ctrl-C, forwarded by npm. */
const SAME_SIGNAL_MS = 1_000;

const PARENT_POLL_MS = 250;

export interface LocalRun {
  /** Name in the log lines. */
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  /** Uses the running service; everything is stopped when it returns or `signal` is aborted. */
  readonly use: (service: LocalService, signal: AbortSignal) => Promise<void>;
}

/** Writes a line for the user. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Runs the whole service in this process until `use` returns or a signal arrives (SIGINT, SIGTERM, SIGHUP), then stops it
 * in order. Exits with 0, or with 1 and a message when the service could not start or failed.
 */
export async function runLocally({ name, env, use }: LocalRun): Promise<never> {
  const config = readConfig(env);
  const logger = createLogger(config.LOG_LEVEL, name);
  surviveClosedOutput(logger);
  const stop = new AbortController();
  let failed = false;
  const fail = (error: unknown) => {
    failed = true;
    report(error, logger);
  };
  process.on('uncaughtException', (error) => {
    fail(error);
    stop.abort(error);
  });
  listenForSignals(stop);
  let service: LocalService | undefined;
  try {
    service = await startLocalService({ config, env, logger, onProgress: print, signal: stop.signal });
    await Promise.race([use(service, stop.signal), untilAborted(stop.signal), service.failed]);
  } catch (error) {
    if (!stop.signal.aborted) fail(error);
  }
  await service?.stop();
  await stopTracing();
  process.exit(failed ? 1 : 0);
}

function readConfig(env: NodeJS.ProcessEnv): Config {
  try {
    return loadConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

function report(error: unknown, logger: Logger): void {
  if (error instanceof UserError || error instanceof ConfigurationError)
    process.stderr.write(`${error.message}\n`);
  else logger.fatal({ err: error }, 'stopped by an error');
}

/** The first signal stops everything; later ones only print a notice. */
function listenForSignals(stop: AbortController): void {
  let lastNotice = 0;
  const onStop = (reason: string) => {
    const now = performance.now();
    if (!stop.signal.aborted) {
      print(`\n${reason}: stopping requests first, then the worker, then the engines.`);
      stop.abort(new Error(reason));
    } else if (now - lastNotice > SAME_SIGNAL_MS) {
      print('Still stopping; please wait.');
    } else {
      return;
    }
    lastNotice = now;
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onStop);
  if (process.env.npm_lifecycle_event !== undefined) onParentGone(() => onStop('npm has ended'));
}

/**
 * npm forwards SIGTERM only to the shell between it and us, which dies silently: the only sign is a new parent process.
 */
function onParentGone(onGone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, PARENT_POLL_MS);
  timer.unref();
}

/** A closed terminal or pipe must not end the process before the engines are stopped. */
function surviveClosedOutput(logger: Logger): void {
  const streams: unknown[] = [process.stdout, process.stderr, Reflect.get(logger, pino.symbols.streamSym)];
  for (const stream of streams) if (stream instanceof EventEmitter) stream.on('error', () => undefined);
}
