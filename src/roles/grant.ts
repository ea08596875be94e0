import { type Actor, missingPermissions } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { isPermission } from './permissions.ts';

/**
 * Nobody hands out more than they hold.
 * @throws {ServiceError} FORBIDDEN with the lacking permissions in `details.permissions`, sorted
 */
export function requireGrantable(actor: Actor, permissions: readonly string[]): void {
  const missing = missingPermissions(actor, permissions.filter(isPermission));
  if (missing.length === 0) return;
  throw new ServiceError('FORBIDDEN', `The role holds permissions you lack: ${missing.join(', ')}.`, {
    details: { permissions: missing },
  });
}
