import pg from 'pg';

/** What Postgres reported, or null for any other error. */
export const databaseError = (error: unknown): pg.DatabaseError | null =>
  error instanceof pg.DatabaseError ? error : null;

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const DEADLOCK_DETECTED = '40P01';
const SERIALIZATION_FAILURE = '40001';
const LOCK_NOT_AVAILABLE = '55P03';
const CHECK_VIOLATION = '23514';

const constraintOf = (error: unknown, code: string): string | null =>
  error instanceof pg.DatabaseError && error.code === code ? (error.constraint ?? '') : null;

/** The violated unique constraint's name, or null for any other error. */
export const uniqueViolation = (error: unknown): string | null => constraintOf(error, UNIQUE_VIOLATION);

/** The violated foreign key's name, or null for any other error. */
export const foreignKeyViolation = (error: unknown): string | null =>
  constraintOf(error, FOREIGN_KEY_VIOLATION);

/** The violated check's name, or null for any other error. */
export const checkViolation = (error: unknown): string | null => constraintOf(error, CHECK_VIOLATION);

/** True for a row on its way to the default partition when its own one was attached; such errors name no constraint. */
const isOfNewPartition = ({ code, constraint }: pg.DatabaseError): boolean =>
  code === CHECK_VIOLATION && constraint === undefined;

/** True when Postgres ended this transaction for the sake of others; it can be run again. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  (error.code === DEADLOCK_DETECTED || error.code === SERIALIZATION_FAILURE || isOfNewPartition(error));

/** True when a statement hit lock_timeout; it had no effect. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;

/** True when a partition was not attached because the default one has rows that belong to it. */
export const isUncovered = (error: unknown): boolean => checkViolation(error) !== null;
