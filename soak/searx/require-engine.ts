/** Says what to install when searx is not there, and ends with 1. */
import { missingPackages } from './searx.ts';

const missing = missingPackages();
if (missing.length > 0) {
  process.stderr.write(
    `searx is not installed here. On Debian 12: apt-get install ${missing.join(' ')}; or unpack these packages and what they\n` +
      'depend on with dpkg -x into a folder, and name it by SEARX_ROOT. Then run `npm run test:searx` again.\n',
  );
  process.exitCode = 1;
}
