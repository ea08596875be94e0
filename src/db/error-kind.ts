import pg from 'pg';
import { ServiceError, TooSlowError } from '../errors.ts';

/**
 * SQLSTATE classes about the connection, a server short of resources, or who may connect to which database
 * (passwords and databases are changed while we run), or of the server's disks; not of the statement.
 */
const TRANSIENT_CLASSES = new Set(['08', '28', '3D', '53', '58']);
/**
 * A statement ended at its time limit or by an operator; shutdown, crash, start, a dropped database, a session ended as
 * idle, also inside a transaction; a standby; a lost race, a deadlock, a lock timeout.
 */
const TRANSIENT_CODES = new Set([
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  '25P03',
  '25006',
  '40001',
  '40P01',
  '55P03',
]);
/** Bad data, a broken constraint, a limit of Postgres: the same statement ends the same way. */
const PERMANENT_CLASSES = new Set(['22', '23', '54']);
const NETWORK_CODES =
  /^(?:ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|EMFILE|ENFILE)$/;
/** A certificate that the peer or we do not accept now, a handshake that failed: before any statement. */
const TLS_CODES =
  /^(?:CERT_\w+|CRL_\w+|UNABLE_TO_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|INVALID_CA|ERR_TLS_\w+|ERR_SSL_\w+|EPROTO)$/;
/** What the driver says of a connection that went away, was refused, or that no pool could give in time; it has no codes for it. */
const DRIVER_MESSAGES =
  /connection (?:terminated|error|timeout|ended|closed)|timeout exceeded when trying to connect|query (?:read )?timeout|after calling end on the pool|not queryable|SSL connection|^SASL:/i;
/** Of a session, not of a statement: Postgres ends the session with it. */
const ENDS_THE_SESSION = new Set(['FATAL', 'PANIC']);
/** A bug in our code. */
const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError] as const;

/** Causes of causes that are looked at: an error may be behind itself. */
const MAX_CAUSES = 8;

function chain(error: unknown, left = MAX_CAUSES): Error[] {
  if (!(error instanceof Error) || left === 0) return [];
  const behind = error instanceof AggregateError ? [...error.errors, error.cause] : [error.cause];
  return [error, ...behind.flatMap((each) => chain(each, left - 1))];
}

function isTransient(error: Error): boolean {
  if (error instanceof ServiceError) return error.code === 'SERVICE_UNAVAILABLE';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error instanceof pg.DatabaseError) {
    return (
      TRANSIENT_CLASSES.has(code.slice(0, 2)) ||
      TRANSIENT_CODES.has(code) ||
      ENDS_THE_SESSION.has(error.severity ?? '')
    );
  }
  // The socket of a local Postgres is a file, which is gone while it restarts; any other file's absence is something else.
  const isSocketGone = code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect';
  return (
    isSocketGone || NETWORK_CODES.test(code) || TLS_CODES.test(code) || DRIVER_MESSAGES.test(error.message)
  );
}

/**
 * How to treat an error of database work: `transient` when the connection or a race failed and not the work,
 * so that it can be repeated for as long as it takes; `permanent` when repeating is certain to fail again; `unknown`
 * for everything else, which is retried a limited number of times.
 */
export function errorKind(error: unknown): 'transient' | 'permanent' | 'unknown' {
  const errors = chain(error);
  if (errors.some((each) => each instanceof TooSlowError)) return 'permanent';
  if (errors.some(isTransient)) return 'transient';
  const permanent = errors.some(
    (each) =>
      MISTAKES.some((Mistake) => each instanceof Mistake) ||
      (each instanceof pg.DatabaseError && PERMANENT_CLASSES.has((each.code ?? '').slice(0, 2))),
  );
  return permanent ? 'permanent' : 'unknown';
}
