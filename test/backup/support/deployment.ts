import { inject } from 'vitest';
import { createScriptService, type ScriptService } from '../../../soak/support/service.ts';
import { loadConfig, requireAddresses } from '../../../src/config.ts';
import { startServer } from '../../../src/processes/server.ts';
import { startWorker } from '../../../src/processes/worker.ts';
import { type ServiceProcess, startProcess } from '../../support/processes.ts';
import { logger } from '../../support/service.ts';

interface Calls {
  /** A request with an API key; the answer's body is parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  call(key: string, method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
}

/** A server and workers as processes of their own, over engines that can be lost. */
export interface Deployment
  extends Calls,
    Pick<ScriptService, 'db' | 'env' | 'workspace' | 'register' | 'emit'> {
  /** Starts one more worker. */
  startWorker(): Promise<void>;
  /** kill -9 for every worker. */
  killWorkers(): Promise<void>;
  /** kill -9 for all processes, and the connections closed. */
  kill(): Promise<void>;
}

export interface DeploymentOptions {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** Variables of both processes, beside those of the engines. */
  readonly env: Record<string, string>;
}

/** Starts a server and a worker and waits until both are there. */
export async function deploy(options: DeploymentOptions): Promise<Deployment> {
  const { databaseUrl, temporalAddress } = options;
  const workflowBundle = inject('workflowBundlePath');
  const service = createScriptService({ databaseUrl, temporalAddress, workflowBundle });
  const env = { ...service.env, ...options.env };
  const workers: ServiceProcess[] = [];
  const startWorker = async () => {
    workers.push(await service.startWorker(env));
  };
  const killWorkers = async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(workers.map((worker) => worker.ended));
  };
  const server = await startProcess('server.ts', { ...env, PORT: '0' });
  const kill = async () => {
    server.kill('SIGKILL');
    await Promise.all([server.ended, killWorkers()]);
    await service.stop();
  };
  await startWorker().catch(async (error: unknown) => {
    await kill();
    throw error;
  });
  const [, url = ''] = /listening on (http:[^"]+)/.exec(server.log()) ?? [];
  return {
    ...service,
    env,
    startWorker,
    killWorkers,
    call: callsOf(url),
    kill,
  };
}

/** A server and a worker of this process, which nobody kills; `stop` may be called again. */
export async function serve({ databaseUrl, temporalAddress, env }: DeploymentOptions) {
  const workflowBundle = inject('workflowBundlePath');
  const service = createScriptService({ databaseUrl, temporalAddress, workflowBundle });
  const config = requireAddresses(loadConfig({ ...service.env, ...env, PORT: '0' }));
  const running: { stop(): Promise<unknown> }[] = [service];
  const stop = async () => {
    for (let last = running.pop(); last !== undefined; last = running.pop()) await last.stop();
  };
  try {
    const server = await startServer(config, logger);
    running.push(server);
    running.push(await startWorker(config, logger));
    return { emit: service.emit, call: callsOf(server.url), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const callsOf =
  (url: string): Calls['call'] =>
  async (key, method, path, body) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
