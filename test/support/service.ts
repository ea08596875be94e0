import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, inject } from 'vitest';
import { type ConnectedConfig, loadConfig, requireAddresses } from '../../src/config.ts';
import type { VerbContext } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';
import type { ApiKeyId, ProjectId, RoleId, WorkspaceId } from '../../src/ids.ts';
import { startServer } from '../../src/processes/server.ts';
import { type RunningWorker, startWorker, type WorkerOverrides } from '../../src/processes/worker.ts';
import { SCHEDULES_EVERY_MS } from '../../src/processes/worker-temporal.ts';
import { createProject } from '../../src/projects/create.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createTestDatabase } from './database.ts';
import { SECRETS_KEYS } from './secret-keys.ts';
import { removeSchedules } from './temporal.ts';

export const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }, pino.destination({ fd: 2 }));

/** For a worker with its schedules: rounds of reconcile at once, each minute, and when a test asks for them; and prune. */
export const WITH_SCHEDULES: WorkerOverrides = { schedulesEveryMs: SCHEDULES_EVERY_MS };

export interface TestWorkspace {
  readonly id: WorkspaceId;
  readonly key: string;
  readonly keyId: ApiKeyId;
  readonly roles: { owner: RoleId; admin: RoleId; editor: RoleId };
  /** The operator, acting in this workspace. */
  readonly context: VerbContext;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface TestService {
  readonly url: string;
  readonly db: Database;
  /** The environment of this service's processes, for tests that start them as such. */
  readonly env: Record<string, string>;
  readonly config: ConnectedConfig;
  workspace(credits?: number): Promise<TestWorkspace>;
  project(workspace: TestWorkspace, languages?: string[]): Promise<ProjectId>;
  call(
    key: string | null,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Without schedules, unless it is given WITH_SCHEDULES. `env` replaces variables for this worker alone. */
  startWorker(overrides?: WorkerOverrides, env?: Record<string, string>): Promise<RunningWorker>;
  stopWorkers(): Promise<void>;
  stop(): Promise<void>;
}

/** The HTTP process over a database and task queues of the caller's own; a worker only when asked for. */
export async function startTestService(env: Record<string, string> = {}): Promise<TestService> {
  const database = await createTestDatabase();
  const variables = {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '10',
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE_PREFIX: `t${randomBytes(4).toString('hex')}-`,
    WORKFLOW_BUNDLE: inject('workflowBundlePath'),
    SECRETS_KEYS,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    IMAGE_ALLOWED_NETWORKS: '127.0.0.0/8',
    // Tests of images name one.
    IMAGE_PROVIDER: 'none',
    RATE_LIMIT_PER_KEY: '0',
    RATE_LIMIT_AUTH_FAILURES: '0',
    RECONCILE_AFTER_SECONDS: '0',
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...env,
  };
  const config = requireAddresses(loadConfig(variables));
  const server = await startServer(config, logger);
  const workers: RunningWorker[] = [];
  const stopWorkers = async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
  };
  const { db } = database;
  return {
    url: server.url,
    db,
    env: variables,
    config,
    async workspace(credits = 1000) {
      const created = await createWorkspace(db, { name: 'Test', credits });
      const id = created.workspaceId;
      return {
        id,
        key: created.apiKey.key,
        keyId: created.apiKey.id,
        roles: created.roles,
        context: { db, actor: { kind: 'operator', workspaceId: id }, requestId: 'test' },
      };
    },
    async project(workspace, languages = ['en', 'es', 'de']) {
      return createProject(workspace.context, {
        name: 'Test',
        languages,
        primaryLanguage: languages[0] ?? 'en',
      });
    },
    async call(key, method, path, body, headers = {}) {
      const response = await fetch(new URL(path, server.url), {
        method,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
    async startWorker(overrides, env = {}) {
      const own = requireAddresses(loadConfig({ ...variables, ...env }));
      // Schedules and their first rounds cost more than all that many a file does.
      const worker = await startWorker(own, logger, { schedulesEveryMs: null, ...overrides });
      workers.push(worker);
      return worker;
    },
    stopWorkers,
    async stop() {
      await stopWorkers();
      await removeSchedules(config.TEMPORAL_TASK_QUEUE_PREFIX);
      await server.stop();
      await database.drop();
    },
  };
}

/** Stands for what a hook of the file makes later, and makes again when it runs for each test. */
export function madeLater<Made extends object>(name: string): { it: Made; set: (made: Made) => void } {
  let made: Made | undefined;
  const it = new Proxy({} as Made, {
    get(_, property) {
      if (made === undefined) throw new Error(`The ${name} of this file is not there yet.`);
      return Reflect.get(made, property);
    },
    set(_, property, value) {
      return made !== undefined && Reflect.set(made, property, value);
    },
  });
  return {
    it,
    set: (value) => {
      made = value;
    },
  };
}

/**
 * The service of a test file: started before its tests and stopped after them.
 * @param envOf variables that earlier hooks of the file make known
 */
export function useTestService(
  env: Record<string, string> = {},
  envOf: () => Record<string, string> = () => ({}),
): TestService {
  const service = madeLater<TestService>('service');
  let running: TestService | undefined;
  beforeAll(async () => {
    running = await startTestService({ ...env, ...envOf() });
    service.set(running);
  });
  afterAll(() => running?.stop());
  return service.it;
}
