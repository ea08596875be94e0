import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, ConfigurationError } from '../config.ts';
import type { Database } from '../db/database.ts';
import { errorKind } from '../db/error-kind.ts';
import { readKnownKeys, registerKeys } from '../webhooks/secrets/known-keys.ts';
import { createSecretRing, type SecretRing } from '../webhooks/secrets/ring.ts';
import { reencrypt } from '../webhooks/secrets/rotate.ts';

const RETRY_MS = 500;
/** How long a start waits for the database. */
const WAIT_MS = 60_000;

/**
 * The keys of a starting server or worker, checked against the database (contract.md W23). Encrypts secrets that are
 * still in clear. Waits up to a minute for a database that is away.
 * @throws {ConfigurationError} naming SECRETS_KEYS or SECRETS_AT_REST
 */
export async function openSecretRing(
  { SECRETS_KEYS, SECRETS_AT_REST }: Pick<Config, 'SECRETS_KEYS' | 'SECRETS_AT_REST'>,
  db: Database,
  logger: Logger,
): Promise<SecretRing> {
  if (SECRETS_KEYS.length === 0 && SECRETS_AT_REST === 'on') {
    throw new ConfigurationError(
      'SECRETS_KEYS: needed, but not set. docs/deployment.md shows how to make a key; ' +
        'SECRETS_AT_REST=off stores the secrets of webhooks in clear.',
    );
  }
  const ring = createSecretRing(SECRETS_KEYS);
  const open = async () => {
    if (SECRETS_AT_REST === 'off') return requireUnused(db);
    await registerKeys(db, SECRETS_KEYS);
    const { encrypted, left } = await reencrypt(db, ring, null);
    if (encrypted > 0) logger.info({ encrypted }, 'webhook secrets encrypted that were in clear');
    if (left > 0) logger.warn({ left }, 'webhook secrets still in clear: a process without keys is running');
  };
  for (const deadline = performance.now() + WAIT_MS; ; await sleep(RETRY_MS)) {
    try {
      await open();
      break;
    } catch (error) {
      if (errorKind(error) !== 'transient' || performance.now() > deadline) throw error;
      logger.warn({ err: error }, 'waiting for the database');
    }
  }
  if (SECRETS_AT_REST === 'off') logger.warn('SECRETS_AT_REST=off: webhook secrets are stored in clear');
  return ring;
}

async function requireUnused(db: Database): Promise<void> {
  const known = await readKnownKeys(db);
  if (known.length === 0) return;
  const ids = known.map(({ id }) => `"${id}"`).join(', ');
  throw new ConfigurationError(
    `SECRETS_AT_REST: off is refused, since this database was used with keys; set SECRETS_KEYS to them: ${ids}.`,
  );
}
