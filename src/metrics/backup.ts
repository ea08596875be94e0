import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';

/** In DATA_DIR: what makes backups touches it at the end of each that succeeded. */
const BACKUP_STAMP = 'last-backup';
/** How long a scrape waits for a file system that hangs, in milliseconds. */
const DEADLINE_MS = 1_000;

/** Registers when the last backup ended; 0 when none has left its stamp, or the stamp cannot be read. */
export function createBackupMetrics(registry: Registry, dataDir: string): void {
  new Gauge({
    name: 'backup_last_success_timestamp_seconds',
    help: 'When the last backup ended, by the time of DATA_DIR/last-backup, as Unix time; 0 for never.',
    registers: [registry],
    async collect() {
      const stamp = await Promise.race([
        stat(join(dataDir, BACKUP_STAMP)).catch(() => undefined),
        sleep(DEADLINE_MS, undefined, { ref: false }),
      ]);
      this.set((stamp?.mtimeMs ?? 0) / 1_000);
    },
  });
}
