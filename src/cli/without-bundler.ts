/**
 * `node src/cli/without-bundler.ts <sbom>`, a step of the image's build: takes the bundler and the compiler, which
 * @temporalio/worker depends on to bundle workflows, and all that only they need, out of node_modules and out of the SBOM
 * (CycloneDX). The workflows are bundled by then. For nobody's checkout: `npm ci` brings them back.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What @temporalio/worker depends on for bundling alone. */
const WORKER = 'node_modules/@temporalio/worker';
const BUNDLING: ReadonlySet<string> = new Set(['webpack', '@swc/core', 'swc-loader', 'source-map-loader']);

/** What a lock file says that a package needs. */
export interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}
type Locked = Readonly<Record<string, LockedPackage>>;

/** The package that `name` means for the one at `from`: the nearest, as Node finds it. */
function locate(locked: Locked, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (path in locked) return path;
    if (at === '') return undefined;
  }
}

/** Paths of the packages that are needed without bundling, in a lock file's `packages`. */
export function neededWithoutBundling(locked: Locked): Set<string> {
  const needed = new Set<string>();
  const open = [''];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const { dependencies, optionalDependencies, peerDependencies } = locked[path] ?? {};
    for (const name of Object.keys({ ...peerDependencies, ...optionalDependencies, ...dependencies })) {
      if (path === WORKER && BUNDLING.has(name)) continue;
      const found = locate(locked, path, name);
      if (found === undefined || needed.has(found)) continue;
      needed.add(found);
      open.push(found);
    }
  }
  return needed;
}

/** The parts of CycloneDX that name components: `name@version`. */
interface Sbom {
  components: { 'bom-ref': string }[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

/** The SBOM of those packages alone, each as `name@version`. */
export function limitedTo(present: ReadonlySet<string>, sbom: Sbom): Sbom {
  const all = new Set(sbom.components.map((component) => component['bom-ref']));
  const isKept = (ref: string): boolean => !all.has(ref) || present.has(ref);
  return {
    ...sbom,
    components: sbom.components.filter((component) => isKept(component['bom-ref'])),
    dependencies: sbom.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  };
}

/** Stands where @temporalio/worker loads webpack at its start, and refuses to bundle. */
const STAND_IN = {
  'package.json': JSON.stringify({ name: 'webpack', version: '0.0.0', private: true, main: 'index.js' }),
  'index.js':
    "exports.webpack = () => { throw new Error('This image has no bundler: WORKFLOW_BUNDLE names the bundle that was made with it.'); };\n",
};

function removeFrom(root: string, sbomFile: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Locked;
  };
  const needed = neededWithoutBundling(packages);
  for (const path of Object.keys(packages)) {
    if (path !== '' && !needed.has(path)) rmSync(join(root, path), { recursive: true, force: true });
  }
  // Nor is a binary for another machine there.
  const present = Object.entries(packages).flatMap(([path, { version }]) =>
    path !== '' && existsSync(join(root, path)) ? [`${path.split('node_modules/').at(-1)}@${version}`] : [],
  );
  const commands = join(root, 'node_modules/.bin');
  for (const name of readdirSync(commands))
    if (!existsSync(join(commands, name))) rmSync(join(commands, name));
  const sbom = JSON.parse(readFileSync(sbomFile, 'utf8')) as Sbom;
  writeFileSync(sbomFile, JSON.stringify(limitedTo(new Set(present), sbom)));
  mkdirSync(join(root, 'node_modules/webpack'));
  for (const [name, text] of Object.entries(STAND_IN)) {
    writeFileSync(join(root, 'node_modules/webpack', name), text);
  }
}

if (import.meta.main) {
  const [sbomFile] = process.argv.slice(2);
  if (sbomFile === undefined) throw new Error('Expected the file of the SBOM.');
  removeFrom(process.cwd(), sbomFile);
}
