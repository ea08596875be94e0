import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../../fields.ts';
import type { EndpointId } from '../../ids.ts';
import { listWebhooks } from '../../webhooks/endpoints/list.ts';
import { setEndpointActive } from '../../webhooks/endpoints/set-active.ts';
import { action } from '../action.ts';
import { workspaceOfEndpoint } from '../targets.ts';
import { workspaceList } from '../workspace-list.ts';

const endpointOptions = z.object({ endpoint: idOf<EndpointId>() });

const list = (): Command =>
  workspaceList('the webhook endpoints of a workspace', async (operator) => {
    const { endpoints } = await listWebhooks(operator, {});
    return {
      endpoints: endpoints.map(({ id, url, active, disabledFor, pausedAt, events }) => ({
        endpointId: id,
        url,
        active,
        disabledFor,
        pausedAt,
        events,
      })),
    };
  });

const switchTo = (name: string, active: boolean, description: string): Command =>
  new Command(name)
    .description(description)
    .requiredOption('--endpoint <id>', 'the webhook endpoint')
    .action(
      action(endpointOptions, async ({ db, operatorOf }, { endpoint }) => {
        const context = operatorOf(await workspaceOfEndpoint(db, endpoint));
        await setEndpointActive(context, { endpointId: endpoint, active });
        return { ok: true, endpointId: endpoint, active };
      }),
    );

/** `endpoint list`, `endpoint disable` and `endpoint enable` */
export const endpointCommand = (): Command =>
  new Command('endpoint')
    .description('list, disable and enable webhook endpoints')
    .addCommand(list())
    .addCommand(
      switchTo('disable', false, 'stop queueing events for an endpoint, and sending those that wait'),
    )
    .addCommand(switchTo('enable', true, 'queue events for an endpoint again'));
