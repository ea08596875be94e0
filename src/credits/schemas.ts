import { z } from 'zod';

/** interface.md, Credit wallet and estimate. */
export const walletSchema = z
  .object({
    balance: z.int().meta({ description: 'Every credit the workspace owns, held ones included.' }),
    reserved: z.int().meta({ description: 'Credits held by runs in progress.' }),
    available: z.int().meta({ description: 'What a new run can reserve: balance minus reserved.' }),
  })
  .meta({ id: 'Wallet' });
