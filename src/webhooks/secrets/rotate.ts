import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { ConfigurationError } from '../../config.ts';
import { inBatches } from '../../db/batches.ts';
import { countRows } from '../../db/count-rows.ts';
import type { Database } from '../../db/database.ts';
import { retryingConflicts } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import type { SecretKey } from '../../secret-keys.ts';
import { readKnownKeys, requireOpening } from './known-keys.ts';
import { createSecretRing, type SecretRing } from './ring.ts';

/** Secrets that one statement replaces. */
const BATCH = 500;
/** Walks over the secrets of a key: what is registered under it meanwhile is met by the next one. */
const WALKS = 20;
const PAUSE_MS = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000' as EndpointId;

/** What became of the secrets of one key. */
export interface Reencrypted {
  /** Secrets now encrypted with the first key. */
  readonly encrypted: number;
  /** Endpoints that still name the key. */
  readonly left: number;
  /** Of these, those whose secret the key does not open. */
  readonly unreadable: number;
}

/** Living secrets of a key, or with null those in clear; both along one index. */
const secretsOf = (db: Database, keyId: string | null) =>
  db
    .selectFrom('webhook_endpoints')
    .where('secret_key_id', keyId === null ? 'is' : '=', keyId)
    .where('secret', '!=', '');

async function reencryptBatch(db: Database, ring: SecretRing, keyId: string | null, after: EndpointId) {
  const rows = await secretsOf(db, keyId)
    .select(['id', 'secret'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(BATCH)
    .execute();
  const readable = rows.flatMap(({ id, secret }) => {
    const text = ring.decrypt(id, secret);
    return text === null ? [] : { id, before: secret, after: ring.encrypt(id, text) };
  });
  const column = (name: 'id' | 'before' | 'after') => readable.map((row) => row[name]);
  // A secret that was deleted or replaced meanwhile is left as it is.
  const { numAffectedRows = 0n } = await retryingConflicts(() =>
    sql`UPDATE webhook_endpoints AS endpoint SET secret = given.after
      FROM unnest(${column('id')}::uuid[], ${column('before')}::text[], ${column('after')}::text[])
        AS given (id, before, after)
      WHERE endpoint.id = given.id AND endpoint.secret = given.before`.execute(db),
  );
  return {
    encrypted: Number(numAffectedRows),
    unreadable: rows.length - readable.length,
    last: rows.length === BATCH ? (rows.at(-1)?.id ?? null) : null,
  };
}

/**
 * Encrypts the secrets of one key with the first one of the ring, 500 at a time, until no endpoint names the key.
 * Resumable, and safe beside registrations and sends: each row is replaced only as it was read.
 * @param keyId null for secrets in clear
 * @param onProgress called after each batch with the number so far
 */
export async function reencrypt(
  db: Database,
  ring: SecretRing,
  keyId: string | null,
  onProgress: (encrypted: number) => void = () => undefined,
): Promise<Reencrypted> {
  let encrypted = 0;
  for (let walk = 1; ; walk += 1) {
    let unreadable = 0;
    const next = (after: EndpointId) => reencryptBatch(db, ring, keyId, after);
    for await (const batch of inBatches(BEFORE_ALL, next)) {
      encrypted += batch.encrypted;
      unreadable += batch.unreadable;
      onProgress(encrypted);
    }
    const left = await countRows(db, secretsOf(db, keyId));
    if (left <= unreadable || walk === WALKS) return { encrypted, left, unreadable };
    await sleep(PAUSE_MS);
  }
}

export interface Rotation {
  /** The key that all secrets are now encrypted with. */
  readonly keyId: string;
  /** The others; `keyId` is null for secrets in clear. */
  readonly from: readonly (Reencrypted & { readonly keyId: string | null })[];
}

/**
 * Encrypts all webhook secrets with the first key (contract.md W23). Removes no key.
 * @throws {ConfigurationError} when a key is missing or wrong, or no server or worker has started with the first one
 */
export async function rotateSecrets(
  db: Database,
  keys: readonly SecretKey[],
  onProgress: (keyId: string | null, encrypted: number) => void,
): Promise<Rotation> {
  const [first] = keys;
  if (first === undefined) throw new ConfigurationError('SECRETS_KEYS: needed, but not set');
  const known = await readKnownKeys(db);
  requireOpening(keys, known);
  if (!known.some(({ id }) => id === first.id)) {
    throw new ConfigurationError(
      `SECRETS_KEYS: no server or worker has started with the key "${first.id}". Deploy it to all of them first.`,
    );
  }
  const ring = createSecretRing(keys);
  const from: Rotation['from'][number][] = [];
  for (const keyId of [null, ...known.map(({ id }) => id).filter((id) => id !== first.id)]) {
    const result = await reencrypt(db, ring, keyId, (encrypted) => onProgress(keyId, encrypted));
    from.push({ keyId, ...result });
  }
  return { keyId: first.id, from };
}
