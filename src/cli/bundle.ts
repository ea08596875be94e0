/** `node src/cli/bundle.ts <file>` writes all workflows as one script, for WORKFLOW_BUNDLE. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { bundleWorkflows } from '../temporal/bundle.ts';
import { reportFailure } from './session.ts';

async function bundle(file: string): Promise<void> {
  const { code } = await bundleWorkflows();
  await mkdir(dirname(file), { recursive: true });
  // Renamed when complete: a worker never starts on half of it.
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, code);
  await rename(draft, file);
  process.stdout.write(`${file}: ${Math.round(code.length / 1_024)} KiB\n`);
}

await new Command('bundle')
  .description('Bundles the workflows into one file, so that workers need not do it at every start.')
  .argument('<file>', 'where to write it; set WORKFLOW_BUNDLE to the same path')
  .action(bundle)
  .parseAsync()
  .catch(reportFailure);
