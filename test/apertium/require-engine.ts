import { existsSync } from 'node:fs';
import { findApy, MODES_FOLDER } from './apy.ts';

/** Says what to install when the engine is not there; nothing else of the run is started then. */
export default function setup(): void {
  const missing = [
    ...(findApy() === undefined ? ['apertium-apy'] : []),
    ...(existsSync(`${MODES_FOLDER}/eng-spa.mode`) ? [] : ['apertium-eng-spa']),
  ];
  if (missing.length === 0) return;
  throw new Error(
    `Apertium is not installed here. On Debian and Ubuntu: apt-get install ${missing.join(' ')}\n` +
      'Then run `npm run test:apertium` again.',
  );
}
