import { invalid } from '../../errors.ts';

/** Units that an audit entry names. */
const MAX_UNITS = 100;

/** The first of the units of a change, for its audit entry. */
export const auditedUnits = (units: readonly string[]): readonly string[] => units.slice(0, MAX_UNITS);

/**
 * Refuses a request that names a unit that neither the source nor the version has.
 * @param unknown those of the named units
 * @param named the request's `units`, in order
 * @throws {ServiceError} INVALID_REQUEST
 */
export function refuseUnknownUnits(unknown: readonly string[], named: readonly string[]): void {
  const [first] = unknown;
  if (first === undefined) return;
  throw invalid(`/units/${named.indexOf(first)}`, 'Neither the source nor the version has this unit.');
}
