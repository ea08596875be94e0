/** Says what to install when the engine is not there, and ends with 1. */
import { existsSync } from 'node:fs';
import { findApy, MODES_FOLDER } from './apy.ts';

const missing = [
  ...(findApy() === undefined ? ['apertium-apy'] : []),
  ...(existsSync(`${MODES_FOLDER}/eng-spa.mode`) ? [] : ['apertium-eng-spa']),
];
if (missing.length > 0) {
  process.stderr.write(
    `Apertium is not installed here. On Debian and Ubuntu: apt-get install ${missing.join(' ')}\n` +
      'Then run `npm run test:apertium` again.\n',
  );
  process.exitCode = 1;
}
