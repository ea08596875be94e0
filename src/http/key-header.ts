import { invalid } from '../errors.ts';
import { idempotencyKey } from '../fields.ts';

/** The documentation of the header. */
export const KEY_HEADER = {
  'Idempotency-Key': {
    description: '8 to 200 characters; used when the body has no idempotencyKey.',
    minLength: 8,
    maxLength: 200,
  },
};

/** The header's key, when the body has none. @throws {ServiceError} INVALID_REQUEST for a bad length */
export function keyFrom(headers: Headers): string | undefined {
  const value = headers.get('idempotency-key');
  if (value === null) return undefined;
  const parsed = idempotencyKey.safeParse(value);
  if (!parsed.success) throw invalid('header/Idempotency-Key', 'Expected 8 to 200 characters.');
  return parsed.data;
}
