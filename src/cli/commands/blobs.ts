import { Command } from 'commander';
import { z } from 'zod';
import { copyBlobs } from '../../blobs/copy.ts';
import { createBlobStore } from '../../blobs/create.ts';
import { BLOB_STORES, loadConfig } from '../../config.ts';
import { parseOptions } from '../options.ts';
import { printResult } from '../print.ts';
import { note } from '../session.ts';

const copyOptions = z
  .object({ from: z.enum(BLOB_STORES), to: z.enum(BLOB_STORES) })
  .refine(({ from, to }) => from !== to, { path: ['to'], message: 'Expected another store than --from.' });

/**
 * `blobs copy`. It touches no database and changes nothing that a tenant has: it is neither in the audit log nor in the
 * operators' log.
 */
export const blobsCommand = (): Command =>
  new Command('blobs').description('the stored bytes of images').addCommand(
    new Command('copy')
      .description(
        'copy the images that the other store lacks, each compared with its hash; a second run goes on where one ended',
      )
      .requiredOption('--from <store>', 'folder (of DATA_DIR) or s3 (of S3_BUCKET)')
      .requiredOption('--to <store>', 'the other one')
      .action(async (given: unknown, command: Command) => {
        const options = parseOptions(copyOptions, given);
        const config = loadConfig();
        const from = await createBlobStore(config, options.from);
        const to = await createBlobStore(config, options.to);
        try {
          const result = await copyBlobs(from, to, {
            onShard: (shard, { copied, present, damaged }) => {
              if (copied + damaged > 0) note(`${shard}: ${copied} copied, ${present} were there`);
            },
            onDamaged: (hash) => note(`damaged, not copied: ${hash}`),
          });
          if (result.damaged > 0) process.exitCode = 1;
          printResult({ ok: result.damaged === 0, ...result }, command.optsWithGlobals().json === true);
        } finally {
          await from.close();
          await to.close();
        }
      }),
  );
