import { sql } from 'kysely';
import { ConfigurationError } from '../../config.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { SecretKey } from '../../secret-keys.ts';
import { decrypt, encrypt } from './ring.ts';

/** Used by no other advisory lock of the service. */
const START_LOCK = 7_263_002;
/** What a check value encrypts, under a context that no endpoint has. */
const CHECK_TEXT = 'workspace-content-service';
const CHECK_CONTEXT = 'check value';

/** A key that a server or worker has started with. */
export interface KnownKey {
  readonly id: string;
  readonly checkValue: string;
  /** Whether a stored secret names it. */
  readonly isNamed: boolean;
}

/** The keys that this database was used with. */
export async function readKnownKeys(db: Queryable): Promise<KnownKey[]> {
  const { rows } = await sql<KnownKey>`
    SELECT id, check_value AS "checkValue",
      EXISTS (SELECT FROM webhook_endpoints AS endpoint WHERE endpoint.secret_key_id = known.id) AS "isNamed"
    FROM secret_keys AS known ORDER BY created_at, id`.execute(db);
  return rows;
}

/**
 * Requires that the keys open the check values of their ids, and that none is missing that a stored secret names.
 * @throws {ConfigurationError} naming SECRETS_KEYS and the id of a key
 */
export function requireOpening(keys: readonly SecretKey[], known: readonly KnownKey[]): void {
  const refuse = (what: string) => new ConfigurationError(`SECRETS_KEYS: ${what}`);
  const ofId = new Map(keys.map(({ id, key }) => [id, key]));
  for (const { id, checkValue } of known) {
    const key = ofId.get(id);
    if (key !== undefined && decrypt(key, CHECK_CONTEXT, checkValue) !== CHECK_TEXT) {
      throw refuse(
        `the key "${id}" is not the one that this database was used with. A new key needs a new id.`,
      );
    }
  }
  const missing = known.filter(({ id, isNamed }) => isNamed && !ofId.has(id)).map(({ id }) => `"${id}"`);
  if (missing.length > 0) {
    throw refuse(`webhook secrets are encrypted with ${missing.join(' and ')}, which it lacks.`);
  }
  if (known.length > 0 && !known.some(({ id }) => ofId.has(id))) {
    const ids = known.map(({ id }) => `"${id}"`).join(', ');
    throw refuse(`it has none of the keys that this database was used with: ${ids}.`);
  }
}

/**
 * Checks the keys of a starting process against the database, and stores a check value of each new one. Processes that
 * start together take turns, so that they cannot bring different keys.
 * @throws {ConfigurationError} naming SECRETS_KEYS and the id of a key
 */
export const registerKeys = (db: Database, keys: readonly SecretKey[]): Promise<void> =>
  inTransaction(db, async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(${START_LOCK})`.execute(tx);
    const known = await readKnownKeys(tx);
    requireOpening(keys, known);
    const added = keys.filter((key) => !known.some(({ id }) => id === key.id));
    if (added.length === 0) return;
    await tx
      .insertInto('secret_keys')
      .values(added.map((key) => ({ id: key.id, check_value: encrypt(key, CHECK_CONTEXT, CHECK_TEXT) })))
      .execute();
  });
