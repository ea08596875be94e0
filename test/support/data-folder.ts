import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

/** A folder for the images of a file's tests, which goes with them. */
export function useDataFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'images-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
