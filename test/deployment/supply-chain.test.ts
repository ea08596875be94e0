import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type LockedPackage, limitedTo, neededWithoutBundling } from '../../src/cli/without-bundler.ts';

interface Locked extends LockedPackage {
  readonly version: string;
  readonly integrity?: string;
}

const { packages } = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
) as {
  packages: Record<string, Locked>;
};

it('the lock file has the SHA-512 of every package, whatever machine it is for', () => {
  const locked = Object.entries(packages).filter(([path]) => path !== '');
  expect(locked.length).toBeGreaterThan(400);
  const without = locked.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity));
  expect(without.map(([path]) => path)).toEqual([]);
});

it('without bundling neither bundler nor compiler is needed, and all that the service imports is', () => {
  const needed = neededWithoutBundling(packages);
  const bundling = [
    'webpack',
    '@swc/core',
    '@swc/core-linux-x64-gnu',
    'swc-loader',
    'source-map-loader',
    'terser',
    'acorn',
  ];
  expect(bundling.filter((name) => needed.has(`node_modules/${name}`))).toEqual([]);
  // The worker loads these at its start, or to read the source map of a bundle.
  const loaded = [
    '@temporalio/worker',
    '@temporalio/core-bridge',
    'memfs',
    'unionfs',
    'source-map',
    'pg',
    'hono',
    'sharp',
  ];
  expect(loaded.filter((name) => !needed.has(`node_modules/${name}`))).toEqual([]);
});

it('a package is kept where another still needs it, each where Node finds it', () => {
  const worker = { dependencies: { webpack: '5', '@swc/core': '1', memfs: '4', shared: '1' } };
  expect(
    [
      ...neededWithoutBundling({
        '': { dependencies: { '@temporalio/worker': '1' } },
        'node_modules/@temporalio/worker': worker,
        'node_modules/@temporalio/worker/node_modules/shared': {},
        'node_modules/memfs': { dependencies: { shared: '2' } },
        'node_modules/shared': { peerDependencies: { absent: '1' } },
        'node_modules/webpack': { dependencies: { terser: '5', shared: '2' } },
        'node_modules/terser': {},
        'node_modules/@swc/core': {},
      }),
    ].sort(),
  ).toEqual([
    'node_modules/@temporalio/worker',
    'node_modules/@temporalio/worker/node_modules/shared',
    'node_modules/memfs',
    'node_modules/shared',
  ]);
});

it('the SBOM loses what is taken out, and every reference to it', () => {
  const sbom = {
    components: [{ 'bom-ref': 'a@1' }, { 'bom-ref': 'webpack@5' }],
    dependencies: [
      { ref: 'service@1', dependsOn: ['a@1'] },
      { ref: 'a@1', dependsOn: ['webpack@5'] },
      { ref: 'webpack@5' },
    ],
  };
  expect(limitedTo(new Set(['a@1']), sbom)).toEqual({
    components: [{ 'bom-ref': 'a@1' }],
    dependencies: [
      { ref: 'service@1', dependsOn: ['a@1'] },
      { ref: 'a@1', dependsOn: [] },
    ],
  });
});
