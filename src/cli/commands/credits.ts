import { Command } from 'commander';
import { z } from 'zod';
import { grantCredits, MAX_CREDITS, purchaseCredits } from '../../credits/wallet.ts';
import { idOf, trimmedText } from '../../fields.ts';
import type { WorkspaceId } from '../../ids.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { requireWorkspace } from '../targets.ts';

const addOptions = z.object({
  workspace: idOf<WorkspaceId>(),
  amount: integer(1, MAX_CREDITS),
  paymentEventId: trimmedText(1, 255).optional(),
});

const addingCommand = (name: string, description: string, add: typeof grantCredits): Command =>
  new Command(name)
    .description(description)
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--amount <number>', 'credits to add, 1 or more')
    .option('--payment-event-id <id>', "the payment provider's event id; an event counts only once")
    .action(
      action(addOptions, async ({ db, operatorOf }, { workspace, ...input }) => ({
        ...(await add(operatorOf(await requireWorkspace(db, workspace)), input)),
      })),
    );

/** `credits grant` and `credits purchase` */
export const creditsCommand = (): Command =>
  new Command('credits')
    .description('add credits to a workspace')
    .addCommand(
      addingCommand('grant', 'add plan credits of a paid invoice and emit credits.granted', grantCredits),
    )
    .addCommand(
      addingCommand('purchase', 'add a paid credit pack and emit credits.purchased', purchaseCredits),
    );
