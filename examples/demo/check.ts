import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../src/local/service.ts';

const TIMEOUT_MS = 120_000;

/**
 * Insists on something that the demo shows.
 * @throws {UserError} that ends the demo with a status other than 0
 */
export function check(condition: boolean, complaint: string): asserts condition {
  if (!condition) throw new UserError(`The demo found something wrong: ${complaint}`);
}

/** Asks until it is so. @throws {UserError} when it is not within two minutes */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await isSo())) {
    check(Date.now() < deadline, `${what} did not come within ${TIMEOUT_MS / 1_000} s.`);
    await sleep(50);
  }
}
