import { z } from 'zod';
import { ARTICLE_STATUSES } from '../db/tables.ts';
import { uuid } from '../fields.ts';
import { EVENT_TYPES, type EventPayloads, type EventType } from './catalog.ts';
import { EVENT_EXAMPLES } from './examples.ts';

export const eventName = z
  .enum(EVENT_TYPES)
  .meta({ id: 'EventName', description: 'A subscribable event (contract.md E).' });

const articleId = uuid;
const jobId = uuid;
const credits = z.number();

const statuses = z.enum(ARTICLE_STATUSES);

/** contract.md E5. */
const articleSet = z.object({
  articleId,
  workspaceId: uuid,
  projectId: uuid,
  slug: z.string(),
  status: z.enum([...statuses.options, 'DELETED']),
  primaryLanguage: z.string(),
  translationGroupId: uuid,
  title: z.string(),
});

const changes = z.enum([
  ...(['title', 'content', 'slug', 'categories'] as const),
  ...(['metaTitle', 'metaDescription', 'targetKeywords', 'secondaryKeywords'] as const),
]);

const payment = z.object({
  creditAmount: credits,
  paymentEventId: z.string().meta({ description: "The payment provider's event id." }),
});

/** The `data` of each event. The type checker compares them with what is stored. */
const DATA: { readonly [Type in EventType]: z.ZodType<EventPayloads[Type]> } = {
  'article.created': z.object({ articleId, projectId: uuid, title: z.string() }),
  'article.generation.started': z.object({ articleId, jobId, estimatedCredits: credits }),
  'article.generation.completed': z.object({ articleId, jobId, consumedCredits: credits }),
  'article.generation.failed': z.object({ articleId, jobId, error: z.string() }),
  'article.approved': z.object({ articleId, reviewId: uuid, previousStatus: statuses }),
  'article.rejected': z.object({
    articleId,
    reviewId: uuid,
    decision: z.enum(['rejected', 'changes_requested']),
  }),
  'article.published': articleSet,
  'article.updated': articleSet.extend({
    changed: z.array(changes).readonly(),
    previousSlug: z.string().exactOptional(),
  }),
  'article.unpublished': articleSet.extend({
    previousStatus: z.literal('PUBLISHED'),
    reason: z.enum(['status_changed', 'deleted']),
  }),
  'image.generated': z.object({ articleId, assetId: uuid, type: z.enum(['hero', 'inline']) }),
  'image.regenerated': z.object({ articleId, assetId: uuid, type: z.literal('hero').exactOptional() }),
  'credits.purchased': payment,
  'credits.granted': payment,
  'credits.consumed': z.object({ articleId, jobId, credits }),
};

/** `article.generation.started` as ArticleGenerationStarted. */
const typeName = (type: EventType): string =>
  type
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** The body of an event's deliveries. */
export const eventSchema = (type: EventType) =>
  z.object({ event: z.literal(type), data: DATA[type] }).meta({ id: `${typeName(type)}Event` });

/** Each event as OpenAPI describes it. */
export const describeEvents = () =>
  EVENT_TYPES.map((type) => ({
    name: type,
    schema: eventSchema(type),
    example: { event: type, data: EVENT_EXAMPLES[type] },
  }));
