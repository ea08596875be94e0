import type { VerbContext } from '../context.ts';
import { type AddCredits, addCredits } from './add.ts';
import type { Wallet } from './wallet.ts';

/** Adds the credits of a paid credit pack and emits credits.purchased (operator only). */
export const purchaseCredits = (context: VerbContext, input: AddCredits): Promise<Wallet> =>
  addCredits(context, 'purchase', input);
