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
export type CategoryId = Branded<'CategoryId'>;
export type CategoryNameId = Branded<'CategoryNameId'>;
export type JobId = Branded<'JobId'>;
export type AiOperationId = Branded<'AiOperationId'>;
export type IdeaClusterId = Branded<'IdeaClusterId'>;
export type HoldId = Branded<'HoldId'>;
export type EventId = Branded<'EventId'>;
export type EndpointId = Branded<'EndpointId'>;
export type DeliveryId = Branded<'DeliveryId'>;
export type BurstId = Branded<'BurstId'>;
export type AuditEntryId = Branded<'AuditEntryId'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A new random id (UUID version 4) of the wanted kind: `newId<JobId>()`. */
export const newId = <Id extends string>(): Id => randomUUID() as string as Id;

/**
 * The text as an id, in lower case, or null when it is no UUID. Postgres would answer a malformed one
 * with an error, so a path or body id passes here before it reaches a query.
 */
export const parseId = <Id extends string>(text: string): Id | null =>
  UUID.test(text) ? (text.toLowerCase() as Id) : null;
