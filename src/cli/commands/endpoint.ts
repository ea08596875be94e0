import { Command } from 'commander';
import { z } from 'zod';
import { idOf } from '../../fields.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';
import { listWebhooks } from '../../webhooks/endpoints/list.ts';
import { setEndpointActive } from '../../webhooks/endpoints/set-active.ts';
import { action } from '../action.ts';
import { requireWorkspace, workspaceOfEndpoint } from '../targets.ts';

const endpointOptions = z.object({ endpoint: idOf<EndpointId>() });

const listOptions = z.object({ workspace: idOf<WorkspaceId>() });

const list = (): Command =>
  new Command('list')
    .description('the webhook endpoints of a workspace')
    .requiredOption('--workspace <id>', 'the workspace')
    .action(
      action(listOptions, async ({ db, operatorOf }, { workspace }) => {
        const { endpoints } = await listWebhooks(operatorOf(await requireWorkspace(db, workspace)), {});
        return {
          endpoints: endpoints.map(({ id, url, active, events }) => ({
            endpointId: id,
            url,
            active,
            events,
          })),
        };
      }),
    );

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
      switchTo('disable', false, 'stop queueing events for an endpoint, and send none of those that wait'),
    )
    .addCommand(switchTo('enable', true, 'queue events for an endpoint again'));
