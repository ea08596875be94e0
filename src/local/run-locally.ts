import { EventEmitter } from 'node:events';
import { type Logger, pino } from 'pino';
import { type Config, ConfigurationError, loadConfig } from '../config.ts';
import { createLogger } from '../logger.ts';
import { type LocalService, startLocalService, UserError, untilAborted } from './service.ts';

/** A signal that comes again within this time is the same Ctrl-C, passed on by npm. */
const SAME_SIGNAL_MS = 1_000;

const PARENT_POLL_MS = 250;

export interface LocalRun {
  /** Name in the log lines. */
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  /** Works with the running service; when it is over, or `signal` is aborted, everything is stopped. */
  readonly use: (service: LocalService, signal: AbortSignal) => Promise<void>;
}

/** Writes a line for the user. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Runs the whole service in this process until `use` is over or a signal comes (SIGINT, SIGTERM, SIGHUP), stops it
 * in order and ends the process: with 0 then, and with 1 and a message when it could not start or failed.
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
  if (error instanceof UserError) process.stderr.write(`${error.message}\n`);
  else logger.fatal({ err: error }, 'stopped by an error');
}

/** The first signal stops everything; later ones only print that it takes a moment. */
function listenForSignals(stop: AbortController): void {
  let told = 0;
  const onStop = (reason: string) => {
    const now = performance.now();
    if (!stop.signal.aborted) {
      print(`\n${reason}: stopping requests first, then the worker, then the engines.`);
      stop.abort(new Error(reason));
    } else if (now - told > SAME_SIGNAL_MS) {
      print('Still stopping; please wait.');
    } else {
      return;
    }
    told = now;
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onStop);
  if (process.env.npm_lifecycle_event !== undefined) onParentGone(() => onStop('npm has ended'));
}

/**
 * npm passes SIGTERM on to the shell between it and us, which dies silently: all that we can notice is
 * that our parent has changed.
 */
function onParentGone(tell: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    tell();
  }, PARENT_POLL_MS);
  timer.unref();
}

/** A terminal or pipe that is gone must not end the process before the engines are stopped. */
function surviveClosedOutput(logger: Logger): void {
  const streams: unknown[] = [process.stdout, process.stderr, Reflect.get(logger, pino.symbols.streamSym)];
  for (const stream of streams) if (stream instanceof EventEmitter) stream.on('error', () => undefined);
}
