import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';

/** What an operator can filter runs by in the Temporal UI. */
export const searchAttributes = {
  workspaceId: defineSearchAttributeKey('WorkspaceId', 'KEYWORD'),
  articleId: defineSearchAttributeKey('ArticleId', 'KEYWORD'),
  endpointId: defineSearchAttributeKey('EndpointId', 'KEYWORD'),
  eventType: defineSearchAttributeKey('EventType', 'KEYWORD'),
  jobKind: defineSearchAttributeKey('JobKind', 'KEYWORD'),
} as const;

/** temporal.api.enums.v1.IndexedValueType */
const KEYWORD = 2;

/** How long an attribute that was refused is left out: after that it may have been added. Milliseconds. */
const REFUSED_FOR_MS = 10 * 60_000;

/** gRPC's INVALID_ARGUMENT: also the answer to a search attribute that the namespace does not know. */
const INVALID_ARGUMENT = 3;

/**
 * Makes the attributes known to the namespace, one by one; those that exist are left alone.
 * @returns those that the server does not let clients add (Temporal Cloud: register them there by hand), with its reason
 */
export async function registerSearchAttributes(
  connection: NativeConnection,
  namespace: string,
): Promise<{ name: string; error: unknown }[]> {
  const known = await connection.operatorService.listSearchAttributes({ namespace }).then(
    ({ customAttributes }) => customAttributes ?? {},
    () => ({}),
  );
  const missing = Object.values(searchAttributes).filter(({ name }) => !Object.hasOwn(known, name));
  const refused: { name: string; error: unknown }[] = [];
  // One after the other: of two changes at once the server refuses one.
  for (const { name } of missing) {
    try {
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [name]: KEYWORD },
      });
    } catch (error) {
      refused.push({ name, error });
    }
  }
  return refused;
}

/** Which attributes the namespace of a client has refused, and until when not to ask again. */
const refusedBy = new WeakMap<object, Map<string, number>>();

/** The attributes without those that the client's namespace is known not to have. */
export function usableAttributes(
  client: object,
  attributes: readonly SearchAttributePair[],
): SearchAttributePair[] {
  const refused = refusedBy.get(client);
  return attributes.filter(({ key }) => (refused?.get(key.name) ?? 0) <= Date.now());
}

/**
 * Remembers which of the attributes a failed start was refused for.
 * @returns false when the failure is about none of them, and another try without them would not help
 */
export function learnRefusal(
  client: object,
  attributes: readonly SearchAttributePair[],
  error: unknown,
): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return false;
  if (cause.code !== INVALID_ARGUMENT || !/search ?attribute/i.test(String(cause))) return false;
  const words = new Set(String(cause).match(/\w+/g));
  const named = attributes.filter(({ key }) => words.has(key.name));
  const refused = refusedBy.get(client) ?? new Map<string, number>();
  refusedBy.set(client, refused);
  for (const { key } of named.length > 0 ? named : attributes)
    refused.set(key.name, Date.now() + REFUSED_FOR_MS);
  return attributes.length > 0;
}
