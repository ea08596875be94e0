import { defineSearchAttributeKey } from '@temporalio/common';
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

/**
 * Makes the attributes known to the namespace; a no-op where they are already.
 * @throws where the server does not let clients add any (Temporal Cloud): register them there by hand
 */
export async function registerSearchAttributes(
  connection: NativeConnection,
  namespace: string,
): Promise<void> {
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(Object.values(searchAttributes).map((key) => [key.name, KEYWORD])),
  });
}
