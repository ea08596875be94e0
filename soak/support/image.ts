import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  allowedPaths,
  assignments,
  execForm,
  type Instruction,
  parseDockerfile,
} from '../../test/deployment/support/dockerfile.ts';

/** What the image would be: a folder that stands for its file system, and how it says it is to be run. */
export interface Image {
  /** Stands for `/`. */
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: { readonly uid: number; readonly gid: number };
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly stopSignal: string;
  /** Runs a command in it, as its user where this process may become another one. */
  start(command: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
}

interface BuiltStage {
  readonly root: string;
  workdir: string;
  readonly env: Record<string, string>;
  readonly settings: Map<string, string>;
}

const ROOT_PATH = '/usr/local/bin:/usr/bin:/bin';
const isRoot = process.getuid?.() === 0;

/**
 * Does what `docker build` would, in a folder: each stage has a sub-folder that stands for its file system, with
 * nothing in it but Node, and every COPY, RUN and ENV of the Dockerfile is carried out in turn. Commands see the
 * machine's own shell and npm, since there is no Debian under them; absolute paths lie below the stage's folder.
 * @throws for an instruction it does not know, and when a step fails
 */
export function buildImage(context: string, into: string, print: (line: string) => void): Image {
  const stages = parseDockerfile(readFileSync(join(context, 'Dockerfile'), 'utf8'));
  const allowed = allowedPaths(readFileSync(join(context, '.dockerignore'), 'utf8'));
  const built = new Map<string, BuiltStage>();
  let last: BuiltStage | undefined;
  for (const [index, stage] of stages.entries()) {
    last = openStage(join(into, stage.name ?? `stage-${index}`), stage.from);
    built.set(stage.name ?? String(index), last);
    for (const instruction of stage.instructions) {
      print(`${instruction.name} ${instruction.rest}`.slice(0, 110));
      carryOut(instruction, last, { context, allowed, built });
    }
  }
  if (last === undefined) throw new Error('The Dockerfile has no stage.');
  return imageOf(last);
}

/** The base image: Node where it has it, and nothing else. */
function openStage(root: string, from: string): BuiltStage {
  const wanted = /^node:(\d+\.\d+\.\d+)-/.exec(from)?.[1];
  if (`v${wanted}` !== process.version) {
    throw new Error(`The image has Node ${wanted}, this is ${process.version}: run this under the image's.`);
  }
  const node = join(root, 'usr/local/bin/node');
  mkdirSync(dirname(node), { recursive: true });
  copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
  chmodSync(node, 0o755);
  return { root, workdir: '/', env: {}, settings: new Map() };
}

function carryOut(
  { name, flags, rest }: Instruction,
  stage: BuiltStage,
  source: { context: string; allowed: readonly string[]; built: ReadonlyMap<string, BuiltStage> },
): void {
  switch (name) {
    case 'WORKDIR':
      stage.workdir = rest;
      mkdirSync(join(stage.root, rest), { recursive: true });
      return;
    case 'ENV':
      Object.assign(stage.env, assignments(rest));
      return;
    case 'RUN':
      execFileSync('/bin/sh', ['-c', rest], {
        cwd: join(stage.root, stage.workdir),
        env: { ...process.env, ...locatedEnv(stage), NODE_ENV: stage.env.NODE_ENV },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      return;
    case 'COPY': {
      const words = rest.split(/\s+/);
      const to = words.pop() ?? '';
      const target = join(stage.root, to.startsWith('/') ? to : join(stage.workdir, to));
      const origin = flags.from === undefined ? undefined : source.built.get(flags.from)?.root;
      if (flags.from !== undefined && origin === undefined) throw new Error(`no stage ${flags.from}`);
      for (const word of words) {
        if (origin !== undefined) copyInto(join(origin, word), target, word.endsWith('/'));
        else for (const path of matching(word, source.allowed)) copyPath(source.context, path, target);
      }
      if (flags.chown !== undefined) changeOwner(target, flags.chown);
      return;
    }
    case 'USER':
    case 'CMD':
    case 'HEALTHCHECK':
    case 'STOPSIGNAL':
      stage.settings.set(name, rest);
      return;
    case 'LABEL':
    case 'EXPOSE':
    case 'VOLUME':
      return;
    default:
      throw new Error(`no rule for ${name}`);
  }
}

/** The paths of the build's context that one word of COPY names. */
const matching = (word: string, allowed: readonly string[]): readonly string[] =>
  word === '.' ? allowed : allowed.filter((path) => path === word);

/** A path of the context keeps its place below the target. */
function copyPath(context: string, path: string, target: string): void {
  cpSync(join(context, path), join(target, path), { recursive: true, verbatimSymlinks: true });
}

/** As COPY does it: a folder's contents, a file by its name. */
function copyInto(from: string, target: string, asFolder: boolean): void {
  const isFolder = asFolder || statSync(from).isDirectory();
  const to = isFolder ? target : join(target, basename(from));
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

function changeOwner(path: string, owner: string): void {
  if (!isRoot) return;
  const [uid = 0, gid = 0] = owner.split(':').map(Number);
  for (const entry of ['', ...readdirSync(path, { recursive: true, encoding: 'utf8' })]) {
    chownSync(join(path, entry), uid, gid);
  }
}

/** Absolute paths of the image, where they are on this machine; its own Node first on the PATH. */
function locatedEnv(stage: BuiltStage): Record<string, string> {
  const located = Object.entries(stage.env).map(([name, value]) => [
    name,
    value.startsWith('/') ? join(stage.root, value) : value,
  ]);
  return {
    ...Object.fromEntries(located),
    PATH: `${join(stage.root, 'usr/local/bin')}:${process.env.PATH ?? ROOT_PATH}`,
  };
}

function imageOf(stage: BuiltStage): Image {
  const setting = (name: string) => stage.settings.get(name) ?? '';
  const [uid = 0, gid = 0] = setting('USER').split(':').map(Number);
  const env = { ...locatedEnv(stage), PATH: `${join(stage.root, 'usr/local/bin')}:${ROOT_PATH}` };
  const workdir = join(stage.root, stage.workdir);
  return {
    root: stage.root,
    workdir,
    env,
    user: { uid, gid },
    command: execForm(setting('CMD')),
    healthcheck: execForm(setting('HEALTHCHECK').replace(/^.*?CMD\s+/, '')),
    stopSignal: setting('STOPSIGNAL'),
    start([file = '', ...args], extra) {
      return spawn(join(stage.root, 'usr/local/bin', file), args, {
        cwd: workdir,
        env: { ...env, ...extra },
        stdio: ['ignore', 'pipe', 'pipe'],
        ...(isRoot && { uid, gid }),
      });
    },
  };
}
