import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { VerbContext } from '../../src/context.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import type { EventType } from '../../src/events/catalog.ts';
import { startDeliveryNotifier } from '../../src/events/notifier.ts';
import { recordEvents } from '../../src/events/record.ts';
import type { EndpointId, WorkspaceId } from '../../src/ids.ts';
import { createLogger } from '../../src/logger.ts';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import { registerEndpoint } from '../../src/webhooks/endpoints/register.ts';
import { createSecretRing } from '../../src/webhooks/secrets/ring.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { articleEvents } from '../../test/support/events.ts';
import { type ServiceProcess, startProcess } from '../../test/support/processes.ts';
import { SECRETS_KEYS } from '../../test/support/secret-keys.ts';
import type { Engines } from './engines.ts';

const LOOPBACK = ['127.0.0.0/8'];

export interface ScriptWorkspace {
  readonly id: WorkspaceId;
  readonly key: string;
  /** The operator, acting in this workspace. */
  readonly context: VerbContext;
}

export interface Emitted {
  /** When the commit was acknowledged. */
  readonly committedAt: number;
  /** `data.articleId` of each event, which is unique. */
  readonly articleIds: readonly string[];
}

export interface ScriptService {
  readonly db: Database;
  /** The environment of this service's processes. */
  readonly env: Record<string, string>;
  workspace(name: string): Promise<ScriptWorkspace>;
  /** An endpoint of the workspace that subscribes to these types of events, article.created when left out. */
  register(
    workspace: ScriptWorkspace,
    url: string,
    events?: EventType | readonly EventType[],
  ): Promise<{ id: EndpointId; secret: string }>;
  /** A workspace with one endpoint for each of these URLs. */
  subscribe(urls: readonly string[]): Promise<ScriptWorkspace[]>;
  /** Stores article.created events in one transaction, as one change would. */
  emit(workspace: ScriptWorkspace, count?: number): Promise<Emitted>;
  startWorker(env?: Record<string, string>): Promise<ServiceProcess>;
  /** Ends the workers and closes the database's connections. */
  stop(): Promise<void>;
}

/** The service's own parts over the given engines; workers are processes of their own, as in production. */
export function createScriptService(engines: Omit<Engines, 'stop' | 'temporalUiUrl'>): ScriptService {
  const db = createDatabase({
    connectionString: engines.databaseUrl,
    applicationName: 'script',
    statementTimeout: 120_000,
    onError: () => undefined,
  });
  // Workers are notified of the script's events like those of a server.
  const notifier = startDeliveryNotifier({
    connectionString: engines.databaseUrl,
    logger: createLogger('fatal', 'script'),
  });
  const guard = createAddressGuard({ allowedNetworks: parseNetworks(LOOPBACK) });
  // In clear: the script may be there before the first process with keys, which encrypts.
  const secrets = createSecretRing([]);
  const env = {
    DATABASE_URL: engines.databaseUrl,
    TEMPORAL_ADDRESS: engines.temporalAddress,
    TEMPORAL_TASK_QUEUE_PREFIX: `s${randomBytes(4).toString('hex')}-`,
    WORKFLOW_BUNDLE: engines.workflowBundle,
    SECRETS_KEYS,
    WEBHOOK_ALLOWED_NETWORKS: LOOPBACK.join(','),
    RATE_LIMIT_PER_KEY: '0',
    WEBHOOK_RUNS_PER_SECOND: process.env.WEBHOOK_RUNS_PER_SECOND ?? '',
  };
  const workers: ServiceProcess[] = [];
  return {
    db,
    env,
    async workspace(name) {
      const created = await createWorkspace(db, { name, credits: 100_000 });
      const id = created.workspaceId;
      const actor = { kind: 'operator', workspaceId: id } as const;
      return { id, key: created.apiKey.key, context: { db, actor, requestId: 'script' } };
    },
    async register(workspace, url, events = 'article.created') {
      const context = { ...workspace.context, guard, secrets };
      const { endpoint, secret } = await registerEndpoint(context, { url, events: [events].flat() });
      return { id: endpoint.id, secret };
    },
    async subscribe(urls) {
      const workspaces: ScriptWorkspace[] = [];
      for (const url of urls) {
        const workspace = await this.workspace('Subscriber');
        await this.register(workspace, url);
        workspaces.push(workspace);
      }
      return workspaces;
    },
    async emit(workspace, count = 1) {
      const events = articleEvents(count);
      await inTransaction(db, (tx) => recordEvents(tx, workspace.context, events));
      return { committedAt: Date.now(), articleIds: events.map(({ data }) => data.articleId) };
    },
    async startWorker(extra = {}) {
      const worker = await startProcess('worker.ts', { ...env, ...extra });
      workers.push(worker);
      return worker;
    },
    async stop() {
      for (const worker of workers) worker.kill('SIGTERM');
      await Promise.all(workers.map((worker) => worker.ended));
      await notifier.stop();
      await db.destroy();
    },
  };
}

/** Deliveries that have not ended. */
export async function countOpen(db: Database): Promise<number> {
  const { open } = await db
    .selectFrom('webhook_open')
    .select(({ fn }) => fn.countAll<number>().as('open'))
    .executeTakeFirstOrThrow();
  return open;
}

/** Waits until no delivery is open. @throws after `timeoutMs` */
export async function untilDelivered(db: Database, everyMs: number, timeoutMs = 120_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; (await countOpen(db)) > 0; await sleep(everyMs)) {
    if (Date.now() > deadline) throw new Error('deliveries stayed open');
  }
}
