/**
 * Has npm compare every installed package with its registry's signature and, where there is one, the attestation of its build.
 * Ends with status 1 when one is wrong. Where the registry's keys or Sigstore are out of reach nothing can be compared: it says
 * so, and ends with status 1 only with `--required`.
 */
import { spawnSync } from 'node:child_process';
import { conclude, print } from './support/report.ts';

/** What npm says when it reaches no registry, or one that has no signatures, such as a mirror. */
const OUT_OF_REACH =
  /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|No dependencies found to audit|did not find any supported/i;

const { error, status, stdout, stderr } = spawnSync('npm', ['audit', 'signatures', '--fetch-retries=0'], {
  encoding: 'utf8',
});
if (error) throw error;
print(stdout.trim());
if (status !== 0 && OUT_OF_REACH.test(stdout + stderr) && !process.argv.includes('--required')) {
  print('Not checked: the keys of the registry, or Sigstore, are out of reach from here.');
} else conclude(status === 0 ? [] : [stderr.trim()], 'Every package is signed by its registry.');
