import { Command } from 'commander';
import { z } from 'zod';
import { readQueue } from '../../webhooks/deliveries/queue.ts';
import { action } from '../action.ts';

/** `queue` */
export const queueCommand = (): Command =>
  new Command('queue')
    .description(
      'open webhook deliveries by endpoint: the ten endpoints waiting longest, and the ten with the most',
    )
    .action(action(z.object({}), async ({ db }) => ({ ...(await readQueue(db)) })));
