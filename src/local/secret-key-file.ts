import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigurationError } from '../config.ts';
import { errorCode, errorMessage } from '../error-text.ts';
import { readIfPresent } from '../files.ts';
import { newSecretKey, parseSecretKeys } from '../secret-keys.ts';

/**
 * Adds the keys of `<DATA_DIR>/secrets.key` to a configuration that has none and does not say SECRETS_AT_REST=off. The
 * file has the form of SECRETS_KEYS; one with a new key is made when it is missing.
 * @throws {ConfigurationError} naming the file when it has another form
 */
export function withLocalKeys<Given extends Config>(config: Given): Given {
  if (config.SECRETS_KEYS.length > 0 || config.SECRETS_AT_REST === 'off') return config;
  const file = join(config.DATA_DIR, 'secrets.key');
  const text = readIfPresent(file) ?? makeKeyFile(config.DATA_DIR, file);
  try {
    return { ...config, SECRETS_KEYS: parseSecretKeys(text.trim().split(/\s*,\s*/)) };
  } catch (error) {
    throw new ConfigurationError(`${file}: ${errorMessage(error)}`);
  }
}

/** Makes the file, readable only by its owner. Of processes that do so at once one wins, and all read its key. */
function makeKeyFile(folder: string, file: string): string {
  mkdirSync(folder, { recursive: true });
  const draft = `${file}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  const opened = openSync(draft, 'wx', 0o600);
  try {
    writeSync(opened, `${newSecretKey('local')}\n`);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  try {
    // Unlike a rename this never replaces a key that another process has made.
    linkSync(draft, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readIfPresent(file) ?? '';
}
