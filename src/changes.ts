import { isDeepStrictEqual } from 'node:util';

/**
 * Applies optional fields of a request: an undefined one stays, any other value, null included, replaces the old one.
 * @returns all fields as they will be, and the names of those that differ
 */
export function applyChanges<Fields extends object>(
  before: Fields,
  given: { readonly [Key in keyof NoInfer<Fields>]?: NoInfer<Fields>[Key] | undefined },
): { readonly after: Fields; readonly changed: readonly string[] } {
  const changes = Object.entries(given).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, Reflect.get(before, name)),
  );
  return { after: { ...before, ...Object.fromEntries(changes) }, changed: changes.map(([name]) => name) };
}
