import { errorMessage } from '../error-text.ts';
import { note } from './session.ts';

/** Says on stderr why a command failed and makes the process end with status 1. */
export function reportFailure(error: unknown): void {
  note(`error: ${errorMessage(error)}`);
  process.exitCode = 1;
}
