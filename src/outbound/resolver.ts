import type { RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { SpanKind } from '@opentelemetry/api';
import { errorCode } from '../error-text.ts';
import type { AllowedNetworks } from '../networks.ts';
import { traced } from '../tracing/spans.ts';
import {
  BLOCKED_ADDRESS_MESSAGE,
  classifyAddress,
  fixedAddresses,
  hostOf,
  parseReceiverUrl,
} from './address-guard.ts';
import { createNameCache, type Named } from './name-cache.ts';

/** An address that the guard has allowed. Only these are dialled. */
export type VettedAddress = string & { readonly __brand: 'VettedAddress' };

export type Resolution =
  | { kind: 'resolved'; addresses: readonly [VettedAddress, ...VettedAddress[]] }
  | { kind: 'blocked' }
  | { kind: 'unresolved'; reason: 'not found' | 'timed out' | 'failed' };

/** Decides which addresses webhooks are sent to: one object for registration and every dial. */
export interface AddressGuard {
  /** Returns the addresses of a host (no brackets, no trailing dot), all of them allowed. Never rejects. */
  resolve(host: string): Promise<Resolution>;
  /** Whether an address that a socket is connected to is allowed. */
  allows(ip: string): boolean;
}

export interface AddressGuardOptions {
  allowedNetworks: AllowedNetworks;
  /** DNS servers as `address` or `address:port`; the machine's when omitted. */
  dnsServers?: readonly string[];
  /** Milliseconds for one name, A and AAAA together. */
  dnsTimeoutMs?: number;
}

type DnsResult = { records: readonly RecordWithTtl[] } | { error: 'not found' | 'timed out' | 'failed' };

const DNS_TRIES = 2;
/** How long addresses are remembered at the most; DNS may say less. Each dial judges them again. */
const MAX_REMEMBERED_MS = 10_000;

/** Creates the guard. It queries DNS through c-ares, which reads neither the hosts file nor search domains. */
export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const { allowedNetworks, dnsServers, dnsTimeoutMs = 5_000 } = options;
  const resolver = new Resolver({ timeout: Math.ceil(dnsTimeoutMs / DNS_TRIES), tries: DNS_TRIES });
  if (dnsServers !== undefined) resolver.setServers(dnsServers);
  const allows = (ip: string): boolean => classifyAddress(ip, allowedNetworks) === 'allowed';
  const isVetted = (ip: string): ip is VettedAddress => allows(ip);
  const names = createNameCache<Addresses>(MAX_REMEMBERED_MS);

  const lookUp = async (host: string): Promise<Named<Addresses>> => {
    const results = await Promise.all([
      resolveWithin(dnsTimeoutMs, resolver.resolve4(host, { ttl: true })),
      resolveWithin(dnsTimeoutMs, resolver.resolve6(host, { ttl: true })),
    ]);
    const records = results.flatMap((result) => ('records' in result ? result.records : []));
    // Half a response is not remembered: the other half may come next time.
    const isWhole = results.every((result) => 'records' in result || result.error === 'not found');
    const ttl = isWhole && records.length > 0 ? Math.min(...records.map((record) => record.ttl)) : 0;
    const found = records.map(({ address }) => address);
    return { value: { found, missing: worstOf(results) }, ttlMs: ttl * 1_000 };
  };

  const resolve = async (host: string): Promise<Resolution> => {
    const fixed = fixedAddresses(host);
    if (fixed !== null) {
      // The list is our own: where an operator allowed one of the two loopbacks, that one is dialled.
      const [first, ...others] = fixed.filter(isVetted);
      return first === undefined ? { kind: 'blocked' } : { kind: 'resolved', addresses: [first, ...others] };
    }
    const { found, missing } = await names.resolve(host, () => lookUp(host));
    // One blocked address refuses all: an honest receiver never mixes them.
    if (!found.every(isVetted)) return { kind: 'blocked' };
    const [first, ...others] = found;
    return first === undefined
      ? { kind: 'unresolved', reason: missing }
      : { kind: 'resolved', addresses: [first, ...others] };
  };

  return {
    resolve: (host) =>
      traced('dns', { kind: SpanKind.CLIENT }, async (span) => {
        const resolution = await resolve(host);
        span.setAttribute('dns.result', resolution.kind);
        return resolution;
      }),
    allows,
  };
}

/** The addresses of a name, and why there is none if so. */
interface Addresses {
  readonly found: readonly string[];
  readonly missing: 'not found' | 'timed out' | 'failed';
}

async function resolveWithin(milliseconds: number, query: Promise<RecordWithTtl[]>): Promise<DnsResult> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<DnsResult>((done) => {
    timer = setTimeout(() => done({ error: 'timed out' }), milliseconds);
  });
  const result = query.then((records): DnsResult => ({ records }), toDnsError);
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function toDnsError(error: unknown): DnsResult {
  const code = errorCode(error);
  if (code === 'ENOTFOUND' || code === 'ENODATA') return { error: 'not found' };
  return { error: code === 'ETIMEOUT' ? 'timed out' : 'failed' };
}

function worstOf(results: readonly DnsResult[]): 'not found' | 'timed out' | 'failed' {
  const errors = results.map((result) => ('error' in result ? result.error : 'not found'));
  return errors.find((error) => error !== 'not found') ?? 'not found';
}

/**
 * Checks a URL before it is stored (contract.md W2). A name that does not resolve yet is accepted: every delivery
 * checks the URL again. The reason may be shown and names no address.
 */
export async function checkUrlAtRegistration(
  text: string,
  guard: AddressGuard,
): Promise<{ ok: true } | { ok: false; reason: string }> {
  const verdict = parseReceiverUrl(text);
  if (!verdict.ok) return verdict;
  const resolution = await guard.resolve(hostOf(verdict.url));
  return resolution.kind === 'blocked' ? { ok: false, reason: BLOCKED_ADDRESS_MESSAGE } : { ok: true };
}
