import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';
/** More than the databases of a run take at once, in bytes. */
const ROOM = 4 * 2 ** 30;

/**
 * Where engines keep what is thrown away after a test: in memory, on a Linux that has room for it. On a disk, the file
 * system takes several times as long for the files of a new database as Postgres does, when others were just dropped.
 * Nothing is to be executed there.
 */
export function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (bavail * bsize >= ROOM) return IN_MEMORY;
  } catch {
    // Other systems have none.
  }
  return tmpdir();
}
