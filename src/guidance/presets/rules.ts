import { uniqueViolation } from '../../db/errors.ts';
import { conflict, type ServiceError } from '../../errors.ts';
import { nameKey } from '../../name-key.ts';
import type { PresetKind, PresetTable } from './kind.ts';

type Kind = Pick<PresetKind<PresetTable>, 'table' | 'noun' | 'builtIn'>;

const nameTaken = ({ noun }: Kind): ServiceError =>
  conflict(`The workspace already has a ${noun} with that name.`, 'name_taken');

/** @throws {ServiceError} CONFLICT `built_in_template` */
export function refuseBuiltIn({ builtIn }: Kind, id: string): void {
  if (!builtIn.some(({ one }) => one.id === id)) return;
  throw conflict('A built-in template can be neither edited nor deleted.', 'built_in_template');
}

/** @throws {ServiceError} CONFLICT `name_taken` for the name of a built-in preset */
export function refuseBuiltInName(kind: Kind, name: string): void {
  const key = nameKey(name);
  if (kind.builtIn.some(({ one }) => nameKey(one.name) === key)) throw nameTaken(kind);
}

/** Throws a violation of the names' constraint as CONFLICT `name_taken`, and any other error as it came. */
export const rethrowNameTaken =
  (kind: Kind) =>
  (error: unknown): never => {
    throw uniqueViolation(error) === `${kind.table}_name_key` ? nameTaken(kind) : error;
  };
