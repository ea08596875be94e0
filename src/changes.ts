import { isDeepStrictEqual } from 'node:util';

/**
 * What becomes of fields that a request may leave out: one that is undefined stays as it is, any other value, null as
 * well, takes its place.
 * @returns all fields as they are to be, and the names of those that differ from before
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
