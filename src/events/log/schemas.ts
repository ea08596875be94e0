import { z } from 'zod';
import { idOf, timestamp, uuid } from '../../fields.ts';
import { integerParameter } from '../../http/paging.ts';
import type { ArticleId, EventId } from '../../ids.ts';
import { EVENT_TYPES, type EventType } from '../catalog.ts';
import { eventName } from '../schemas.ts';

/** Maximum characters of a cursor, as of those of other lists; ours are shorter. */
const MAX_CURSOR = 200;
/** Room for every name, and as many again. */
const MAX_TYPES = 1_000;
/** Longest wait of one request, in seconds. */
const MAX_WAIT = 20;

const isType = (name: string): name is EventType => EVENT_TYPES.some((type) => type === name);

export const pullEventsQuery = z.object({
  after: z.string().min(1).max(MAX_CURSOR).optional().meta({
    pattern: '^[A-Za-z0-9_-]+$',
    description:
      'The cursor of the previous response; `latest` for what comes next. Omit it for the oldest event that is kept.',
  }),
  types: z
    .string()
    .max(MAX_TYPES)
    .optional()
    .transform((text, context): readonly EventType[] | undefined => {
      if (text === undefined) return undefined;
      const names = text.split(',');
      const unknown = names.filter((name) => !isType(name));
      if (unknown.length === 0) return [...new Set(names.filter(isType))];
      context.addIssue({
        code: 'custom',
        message: `No such event. Expected some of ${EVENT_TYPES.join(', ')}.`,
      });
      return z.NEVER;
    })
    .meta({
      type: 'string',
      maxLength: MAX_TYPES,
      description: 'Only events of these names, separated by commas.',
      examples: ['article.published,article.updated,article.unpublished'],
    }),
  articleId: idOf<ArticleId>().optional().meta({ description: 'Only events of this article.' }),
  limit: integerParameter(1, 500, 100),
  wait: integerParameter(0, MAX_WAIT, 0).meta({
    description: 'Seconds to wait for an event when there is none after the cursor.',
  }),
});

const pulledEventSchema = z
  .object({
    id: idOf<EventId>().meta({ description: 'The same in each response.' }),
    type: eventName,
    articleId: uuid.nullable().meta({ description: 'The article of the event; null for events of credits.' }),
    createdAt: timestamp,
    body: z
      .object({ event: eventName, data: z.record(z.string(), z.unknown()) })
      .meta({ description: 'What webhooks get as their body.' }),
  })
  .meta({ id: 'LoggedEvent' });

export const pulledEventsSchema = z.object({
  events: z.array(pulledEventSchema),
  cursor: z.string().meta({ description: 'The last event looked at, shown or not. Send it as `after`.' }),
  more: z.boolean().meta({ description: 'Whether the log goes on after the cursor now.' }),
});
