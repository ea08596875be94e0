import { z } from 'zod';
import { HOLD_PURPOSES } from '../db/tables.ts';
import { timestamp, uuid } from '../fields.ts';
import { nextCursor } from '../http/paging.ts';

/** contract.md J11. */
export const walletSchema = z
  .object({
    balance: z.int().meta({ description: 'Every credit the workspace owns, held ones included.' }),
    reserved: z.int().meta({ description: 'Credits held by runs in progress.' }),
    available: z.int().meta({ description: 'What a new run can reserve: balance minus reserved.' }),
  })
  .meta({ id: 'Wallet' });

const ledgerEntrySchema = z
  .object({
    id: uuid,
    kind: z.enum(['grant', 'purchase', 'settlement']),
    amount: z.int().meta({ description: 'Credits: positive when added, negative when consumed.' }),
    paymentEventId: z.string().nullable().meta({ description: 'Of a grant or purchase.' }),
    purpose: z.enum(HOLD_PURPOSES).nullable().meta({ description: 'What a settlement paid for.' }),
    runId: uuid.nullable().meta({ description: "The run it paid for: a job's id, or an AI operation's." }),
    createdAt: timestamp,
  })
  .meta({ id: 'LedgerEntry' });

export const ledgerPageSchema = z.object({ entries: z.array(ledgerEntrySchema), nextCursor });

export type Wallet = z.infer<typeof walletSchema>;
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;
export type LedgerPage = z.infer<typeof ledgerPageSchema>;
