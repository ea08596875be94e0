import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { phases } from '../tracing/spans.ts';
import { BLOCKED_ADDRESS_MESSAGE, hostOf } from './address-guard.ts';
import { describeNetworkError, SendFailure } from './failure.ts';
import type { AddressGuard, VettedAddress } from './resolver.ts';

export interface DialOptions {
  guard: AddressGuard;
  signal: AbortSignal;
  /** Certificate authorities in PEM, instead of those Node trusts. */
  ca?: string;
}

/** Small reads keep what is read past the limit of a response small. */
const READ_STEP_BYTES = 16 * 1024;
/** How long one address is tried before the next. */
const ADDRESS_ATTEMPT_MS = 3_000;
const MAX_ADDRESSES = 4;

/**
 * Connects to one of the vetted addresses, with the SNI and certificate of the URL's host.
 * @throws SendFailure, or the signal's reason.
 */
export function dial(
  url: URL,
  addresses: readonly VettedAddress[],
  { guard, signal, ca }: DialOptions,
): Promise<Socket> {
  const host = hostOf(url);
  const secure = url.protocol === 'https:';
  const options = {
    host,
    port: Number(url.port || (secure ? 443 : 80)),
    lookup: lookupAmong(addresses.slice(0, MAX_ADDRESSES)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    highWaterMark: READ_STEP_BYTES,
    noDelay: true,
  };
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = secure
      ? connectTls({
          ...options,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          ...(ca === undefined ? {} : { ca }),
          ALPNProtocols: ['http/1.1'],
          rejectUnauthorized: true,
        })
      : connectTcp(options);
    const begin = phases();
    let endPhase = begin('connect');
    if (secure) {
      socket.once('connect', () => {
        endPhase();
        endPhase = begin('tls');
      });
    }
    const abort = (): void => fail(signal.reason);
    const fail = (reason: unknown): void => {
      endPhase(reason);
      signal.removeEventListener('abort', abort);
      socket.destroy();
      reject(reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    // Kept for the socket's whole life: an error while it is idle must not end the process.
    socket.on('error', (error) => fail(new SendFailure(describeNetworkError(error))));
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      if (!isAllowed(socket, guard)) return fail(new SendFailure(BLOCKED_ADDRESS_MESSAGE));
      signal.removeEventListener('abort', abort);
      endPhase();
      resolve(socket);
    });
  });
}

/** Checks the address that a socket is really connected to, whatever was resolved. */
export function isAllowed(socket: Socket, guard: AddressGuard): boolean {
  return socket.remoteAddress !== undefined && guard.allows(socket.remoteAddress);
}

/** A lookup that knows only the vetted addresses. Node skips it for literals, which are vetted as they are. */
function lookupAmong(addresses: readonly VettedAddress[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, callback) => {
    const [first] = entries;
    if (all === true || first === undefined) callback(null, entries);
    else callback(null, first.address, first.family);
  };
}
