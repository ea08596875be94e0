import { randomBytes } from 'node:crypto';

const MARKER = 'whsec_';
const SECRET_BYTES = 32;

/** A new signing secret: `whsec_` and 256 random bits as 43 characters of base64url. The whole text is the key. */
export const generateSecret = (): string => MARKER + randomBytes(SECRET_BYTES).toString('base64url');
