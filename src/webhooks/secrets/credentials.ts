import { z } from 'zod';
import { type ServiceError, unavailable } from '../../errors.ts';
import type { EndpointId } from '../../ids.ts';
import type { SecretRing } from './ring.ts';

/** What requests to an endpoint are signed with, and what they carry; encrypted at rest as one text. */
export interface Credentials {
  /** Signs, until a rotation's next one takes its place. */
  readonly secret: string;
  /** The secret of an open rotation; with `activeAt` past it is the only one. */
  readonly next: { readonly secret: string; readonly activeAt: Date } | null;
  /** Custom headers by lower-case name, for the registered origin alone. */
  readonly headers: Readonly<Record<string, string>>;
}

const stored = z.object({
  secret: z.string(),
  next: z.object({ secret: z.string(), activeAt: z.coerce.date() }).nullable(),
  headers: z.record(z.string(), z.string()),
});

/** The text that is encrypted: a secret alone stands for itself. */
export const toText = (credentials: Credentials): string =>
  credentials.next === null && Object.keys(credentials.headers).length === 0
    ? credentials.secret
    : JSON.stringify(credentials);

export const fromText = (text: string): Credentials =>
  text.startsWith('{') ? stored.parse(JSON.parse(text)) : { secret: text, next: null, headers: {} };

/** The secrets that sign at a time. */
export interface SigningSecrets {
  /** The one of x-service-signature. */
  readonly service: string;
  /** Those of webhook-signature, the newest first. */
  readonly standard: readonly string[];
}

/** The secrets that sign now (contract.md W61): during a rotation the old one, and in webhook-signature both. */
export function secretsAt({ secret, next }: Credentials, now: Date): SigningSecrets {
  if (next === null) return { service: secret, standard: [secret] };
  if (next.activeAt <= now) return { service: next.secret, standard: [next.secret] };
  return { service: secret, standard: [next.secret, secret] };
}

/** The same without a rotation that is over, or that ends now. */
export const withoutRotation = (credentials: Credentials): Credentials => ({
  ...credentials,
  secret: credentials.next?.secret ?? credentials.secret,
  next: null,
});

/**
 * What is stored for an endpoint, for a request that changes it.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when no key of this process decrypts it
 */
export function requireCredentials(
  ring: Pick<SecretRing, 'decrypt'>,
  endpointId: EndpointId,
  text: string,
): Credentials {
  const clear = ring.decrypt(endpointId, text);
  if (clear === null) throw unreadableSecret();
  return fromText(clear);
}

export const unreadableSecret = (): ServiceError =>
  unavailable('secrets', "The endpoint's secret cannot be read now.", { retryAfter: 60 });
