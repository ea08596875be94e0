import type { Actor } from '../context.ts';
import { ServiceError } from '../errors.ts';

/**
 * Nobody hands out more than they hold. A permission that only a later release knows is one the caller lacks.
 * @throws {ServiceError} FORBIDDEN with the lacking permissions in `details.permissions`, sorted
 */
export function requireGrantable(actor: Actor, permissions: readonly string[]): void {
  if (actor.kind === 'operator') return;
  const held: ReadonlySet<string> = actor.permissions;
  const missing = [...new Set(permissions)].filter((name) => !held.has(name)).sort();
  if (missing.length === 0) return;
  throw new ServiceError('FORBIDDEN', `The role holds permissions you lack: ${missing.join(', ')}.`, {
    details: { permissions: missing },
  });
}
