import { foreignKeyViolation } from '../db/errors.ts';
import { conflict, type ServiceError } from '../errors.ts';

/** contract.md K7: the role went away while its key was being made, or before it was rotated. */
export const roleDeleted = (): ServiceError => conflict('The role was deleted.', 'role_deleted');

/** Passes any error on, but a key's reference to a role that is gone as the conflict it is. */
export function rethrowRoleDeleted(error: unknown): never {
  throw foreignKeyViolation(error) === 'api_keys_role_fkey' ? roleDeleted() : error;
}
