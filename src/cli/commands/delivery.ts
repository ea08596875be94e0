import { Command } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../config.ts';
import { notFound } from '../../errors.ts';
import { idOf } from '../../fields.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { cancelAllDeliveries, cancelDelivery } from '../../webhooks/deliveries/cancel.ts';
import { selectSummary } from '../../webhooks/deliveries/queries.ts';
import { listOpenDeliveries } from '../../webhooks/deliveries/read.ts';
import { action } from '../action.ts';
import { cancelRunsIfReached } from '../runs.ts';
import { workspaceOfEndpoint } from '../targets.ts';

const listOptions = z.object({ endpoint: idOf<EndpointId>() });
const cancelOptions = z.object({ endpoint: idOf<EndpointId>(), delivery: idOf<DeliveryId>().optional() });

const list = (): Command =>
  new Command('list')
    .description('up to 100 open deliveries of an endpoint, the earliest due first')
    .requiredOption('--endpoint <id>', 'the webhook endpoint')
    .action(
      action(listOptions, async ({ db, operatorOf }, { endpoint }) => ({
        deliveries: await listOpenDeliveries(operatorOf(await workspaceOfEndpoint(db, endpoint)), endpoint),
      })),
    );

const cancel = (): Command =>
  new Command('cancel')
    .description('cancel one open delivery of an endpoint, or all that are open now')
    .requiredOption('--endpoint <id>', 'the webhook endpoint')
    .option('--delivery <id>', 'one delivery of it')
    .action(
      action(cancelOptions, async ({ db, operatorOf }, { endpoint, delivery }) => {
        const runs: DeliveryId[] = [];
        const context = {
          ...operatorOf(await workspaceOfEndpoint(db, endpoint)),
          runCanceller: { cancel: (ids: readonly DeliveryId[]) => void runs.push(...ids) },
        };
        let cancelled = 1;
        if (delivery === undefined) {
          cancelled = await cancelAllDeliveries(context, endpoint);
        } else {
          const found = await selectSummary(db, context.actor.workspaceId, delivery);
          if (found?.endpointId !== endpoint) throw notFound(`delivery ${delivery} of endpoint ${endpoint}`);
          await cancelDelivery(context, delivery);
        }
        await cancelRunsIfReached(loadConfig(), runs);
        return { ok: true, cancelled };
      }),
    );

/** `delivery list` and `delivery cancel` */
export const deliveryCommand = (): Command =>
  new Command('delivery')
    .description('list and cancel open webhook deliveries')
    .addCommand(list())
    .addCommand(cancel());
