import { sql } from 'kysely';
import type { Logger } from 'pino';
import { removeInBatches } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { ServiceError } from '../../errors.ts';
import { keepDoing, pause } from '../../pause.ts';
import { changeCredentials } from '../endpoints/change-credentials.ts';
import { isInForce } from '../pace/pace.ts';
import type { SecretRing } from '../secrets/ring.ts';
import { disableFailing } from './disable-failing.ts';
import type { Figures } from './figures.ts';
import { writeFigures } from './write.ts';

const WRITE_MS = 10_000;
const LOOK_MS = 3_600_000;
/** How long a stopping worker waits for its last write. */
const LAST_WRITE_MS = 2_000;
/** Figures are shown of a day; a look may come an hour late. */
const KEPT_HOURS = 26;
/** Rows that one statement removes, and rotations that one look ends. */
const BATCH = 5_000;
const MAX_ROTATIONS = 500;

export interface UpkeepDependencies {
  readonly db: Database;
  readonly secrets: SecretRing;
  readonly figures: Figures;
  readonly logger: Logger;
  /** Called for each endpoint that was disabled for failing. */
  readonly onDisabled: () => void;
}

/** What is done for endpoints once an hour, by whichever workers run. */
export async function lookAfterEndpoints({
  db,
  secrets,
  logger,
  onDisabled,
}: Omit<UpkeepDependencies, 'figures'>): Promise<void> {
  for (const disabled of await disableFailing(db)) {
    onDisabled();
    logger.warn(disabled, 'webhook endpoint disabled: nothing was delivered to it for five days');
  }
  await forgetOldSecrets(db, secrets);
  await forgetOldHours(db);
  await forgetOldPaces(db);
  await forgetOldFanOuts(db);
}

/** Removes the old secrets of rotations that are over; those that no key here opens stay as they are. */
async function forgetOldSecrets(db: Database, secrets: SecretRing): Promise<void> {
  const over = await db
    .selectFrom('webhook_endpoints')
    .select(['id as endpointId', 'workspace_id as workspaceId'])
    .where('rotation_ends_at', '<', sql<Date>`now()`)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`(secret_key_id IS NULL OR secret_key_id = ANY (${secrets.keyIds}::text[]))`)
    .orderBy('rotation_ends_at')
    .limit(MAX_ROTATIONS)
    .execute();
  for (const place of over) {
    const forget = inTransaction(db, (tx) =>
      changeCredentials(tx, secrets, place, ({ credentials }) => credentials),
    );
    // It was deleted meanwhile, or is damaged.
    await forget.catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
    });
  }
}

/** Removes figures that are no longer shown. */
const forgetOldHours = (db: Database): Promise<number> =>
  removeInBatches(BATCH, () =>
    sql`
      DELETE FROM webhook_hours WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM webhook_hours WHERE hour < now() - make_interval(hours => ${KEPT_HOURS})
        LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`.execute(db),
  );

/** Removes paces that are over. */
const forgetOldPaces = (db: Database): Promise<number> =>
  removeInBatches(BATCH, () =>
    sql`
      DELETE FROM webhook_paces AS pace WHERE NOT ${isInForce()} AND pace.endpoint_id = ANY (ARRAY(
        SELECT endpoint_id FROM webhook_paces AS pace WHERE NOT ${isInForce()}
        LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`.execute(db),
  );

/** Removes counts of events that no longer count for a day. */
const forgetOldFanOuts = (db: Database): Promise<number> =>
  removeInBatches(BATCH, () =>
    sql`
      DELETE FROM event_fanout_hours WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM event_fanout_hours WHERE hour < now() - make_interval(hours => ${KEPT_HOURS})
        LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`.execute(db),
  );

/**
 * Writes the figures of this process every ten seconds and once more when it stops, and looks after endpoints every hour.
 * What can't be written is lost: figures are no promise.
 * @returns stops it
 */
export function startUpkeep(dependencies: UpkeepDependencies): () => Promise<void> {
  const { db, figures, logger } = dependencies;
  const stopping = new AbortController();
  const write = () => writeFigures(db, figures.take());
  const keepOn = (work: () => Promise<unknown>, everyMs: number, failure: string) =>
    keepDoing(work, { everyMs, signal: stopping.signal, onError: (err) => logger.warn({ err }, failure) });
  const working = [
    keepOn(write, WRITE_MS, 'figures of webhook endpoints not written'),
    keepOn(() => lookAfterEndpoints(dependencies), LOOK_MS, 'webhook endpoints not looked after'),
  ];
  return async () => {
    stopping.abort();
    const written = new AbortController();
    const last = Promise.all(working)
      .then(write)
      .catch((err: unknown) => logger.warn({ err }, 'figures of webhook endpoints not written'))
      .finally(() => written.abort());
    // A database that says nothing does not hold up the end.
    await Promise.race([last, pause(LAST_WRITE_MS, written.signal)]);
  };
}
