import { hash } from 'node:crypto';
import { addressOf } from '../../document/translation/style-sheet.ts';
import type { JobContext } from '../../providers/types.ts';

/**
 * Hash of what every text of a version shares, for the memory's keys (contract.md V49): form of address, variety of the
 * language and quotation marks. Terms are left out, or no text would ever be found again.
 */
export const voiceKey = ({ style, sheet }: Pick<JobContext, 'style' | 'sheet'>): string =>
  hash(
    'sha256',
    JSON.stringify([addressOf({ style, sheet }), sheet?.variant ?? null, sheet?.quotes ?? null]),
    'base64url',
  ).slice(0, 22);
