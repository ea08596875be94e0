import { PlainError } from '../../src/local/service.ts';

/**
 * Insists on something that the demo shows.
 * @throws {PlainError} that ends the demo with a status other than 0
 */
export function check(condition: boolean, complaint: string): asserts condition {
  if (!condition) throw new PlainError(`The demo found something wrong: ${complaint}`);
}
