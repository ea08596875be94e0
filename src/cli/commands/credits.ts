import { Command } from 'commander';
import { z } from 'zod';
import { grantCredits } from '../../credits/grant.ts';
import { idOf, trimmedText } from '../../http/fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { requireWorkspace } from '../targets.ts';

/** Credits one command can give. */
export const MAX_CREDITS = 1_000_000_000;

const grantOptions = z.object({
  workspace: idOf<WorkspaceId>(),
  amount: integer(1, MAX_CREDITS),
  paymentEventId: trimmedText(1, 255).optional(),
});

/** `credits grant` */
export const creditsCommand = (): Command =>
  new Command('credits').description("a workspace's credits").addCommand(
    new Command('grant')
      .description('add plan credits and emit credits.granted')
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--amount <number>', 'credits to add, 1 or more')
      .option(
        '--payment-event-id <id>',
        "the payment provider's event; one that was granted before changes nothing",
      )
      .action(
        action(grantOptions, async ({ db, operatorOf }, { workspace, ...input }) => ({
          ...(await grantCredits(operatorOf(await requireWorkspace(db, workspace)), input)),
        })),
      ),
  );
