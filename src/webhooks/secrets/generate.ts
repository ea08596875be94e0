import { randomBytes } from 'node:crypto';

const MARKER = 'whsec_';
const SECRET_BYTES = 32;

/** A new signing secret: `whsec_` and 256 random bits in base64, as Standard Webhooks writes it. */
export const generateSecret = (): string => MARKER + randomBytes(SECRET_BYTES).toString('base64');
