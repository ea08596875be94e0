import { errorCode } from '../error-text.ts';

/** An attempt without a response. Its message is safe to show: it names no address. */
export class SendFailure extends Error {
  override readonly name = 'SendFailure';
}

/** Nothing of the request was written: the connection was lost before. */
export class NothingWritten extends SendFailure {}

/** The connection ended after the request was written and before the first byte of a response. */
export class EndedWithoutResponse extends SendFailure {}

export const CLOSED_MESSAGE = 'The connection was closed before a response came.';

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: CLOSED_MESSAGE,
  EPIPE: CLOSED_MESSAGE,
  HPE_HEADER_OVERFLOW: 'The headers of the response are too large.',
  EHOSTUNREACH: 'The receiver could not be reached.',
  ENETUNREACH: 'The receiver could not be reached.',
  EADDRNOTAVAIL: 'The receiver could not be reached.',
  ETIMEDOUT: 'The connection timed out.',
  CERT_HAS_EXPIRED: 'The TLS certificate of the receiver has expired.',
  CERT_NOT_YET_VALID: 'The TLS certificate of the receiver is not valid yet.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The TLS certificate of the receiver is for another host.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The TLS certificate of the receiver is not trusted.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The TLS certificate of the receiver is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT: 'The TLS certificate of the receiver is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The TLS certificate of the receiver is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The TLS certificate of the receiver is not trusted.',
};

/** Describes a network error in plain words. System messages hold addresses, so none is passed on. */
export function describeNetworkError(error: unknown): string {
  const code = codeOf(error);
  const known = MESSAGES[code];
  if (known !== undefined) return known;
  if (code.startsWith('HPE_')) return 'The response is not valid HTTP.';
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return 'The TLS handshake failed.';
  return 'The connection failed.';
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors.at(-1));
  return errorCode(error) ?? '';
}
