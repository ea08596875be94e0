import { randomUUID } from 'node:crypto';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type WorkspaceId = Branded<'WorkspaceId'>;
export type RoleId = Branded<'RoleId'>;
export type ApiKeyId = Branded<'ApiKeyId'>;
export type ProjectId = Branded<'ProjectId'>;
export type ArticleId = Branded<'ArticleId'>;
export type TranslationGroupId = Branded<'TranslationGroupId'>;
export type AssetId = Branded<'AssetId'>;
export type ReviewId = Branded<'ReviewId'>;
export type RevisionId = Branded<'RevisionId'>;
export type CategoryId = Branded<'CategoryId'>;
export type CategoryNameId = Branded<'CategoryNameId'>;
export type BrandVoiceId = Branded<'BrandVoiceId'>;
export type ContentTemplateId = Branded<'ContentTemplateId'>;
export type JobId = Branded<'JobId'>;
export type GlossaryTermId = Branded<'GlossaryTermId'>;
export type MemoryEntryId = Branded<'MemoryEntryId'>;
export type ProposalId = Branded<'ProposalId'>;
export type AiOperationId = Branded<'AiOperationId'>;
export type IdeaClusterId = Branded<'IdeaClusterId'>;
export type SourceId = Branded<'SourceId'>;
export type NoteId = Branded<'NoteId'>;
export type ClaimId = Branded<'ClaimId'>;
export type HoldId = Branded<'HoldId'>;
export type EventId = Branded<'EventId'>;
export type EndpointId = Branded<'EndpointId'>;
export type DeliveryId = Branded<'DeliveryId'>;
export type FanOutId = Branded<'FanOutId'>;
export type BurstId = Branded<'BurstId'>;
export type AuditEntryId = Branded<'AuditEntryId'>;
export type LedgerEntryId = Branded<'LedgerEntryId'>;
export type OperatorLogId = Branded<'OperatorLogId'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A new random id (UUID version 4) of the wanted kind: `newId<JobId>()`. */
export const newId = <Id extends string>(): Id => randomUUID() as string as Id;

let lastMillisecond = 0;
let sequence = 0;

/**
 * A new id that sorts after all earlier ones of this process (UUID version 7 with a counter in its first 12 random
 * bits): for rows whose order counts within a millisecond.
 */
export function newOrderedId<Id extends string>(): Id {
  const now = Date.now();
  sequence += 1;
  if (now > lastMillisecond || sequence > 0xfff) {
    // When the clock was set back, or after 4,096 ids in a millisecond, the time part runs ahead of the clock.
    lastMillisecond = Math.max(now, lastMillisecond + 1);
    sequence = 0;
  }
  const time = lastMillisecond.toString(16).padStart(12, '0');
  const counter = sequence.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${randomUUID().slice(19)}` as string as Id;
}

/** The text as an id, in lower case, or null when it is not a UUID, which would be an error in a query. */
export const parseId = <Id extends string>(text: string): Id | null =>
  UUID.test(text) ? (text.toLowerCase() as Id) : null;

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/;

/**
 * The instant of a version 7 id, to the millisecond: equal to its row's `created_at`, which names the partition. Null
 * for other versions.
 */
export function instantOf(id: string): Date | null {
  return VERSION_7.test(id) ? new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)) : null;
}
