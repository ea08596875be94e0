import type { VerbContext } from '../context.ts';
import { type AddCredits, addCredits } from './add.ts';
import type { Wallet } from './wallet.ts';

/** Adds plan credits of a paid invoice and emits credits.granted (operator only). */
export const grantCredits = (context: VerbContext, input: AddCredits): Promise<Wallet> =>
  addCredits(context, 'grant', input);
