import { z } from 'zod';
import { EVENT_TYPES } from './catalog.ts';

export const eventName = z
  .enum(EVENT_TYPES)
  .meta({ id: 'EventName', description: 'A subscribable event (contract.md E).' });
