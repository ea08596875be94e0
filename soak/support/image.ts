import { execFileSync } from 'node:child_process';
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

/** A stage of the image: a folder that stands for its file system, and how it says it is to be run. */
export class Image {
  /** Stands for `/`. */
  readonly root: string;
  workdir = '/';
  readonly env: Record<string, string> = {};
  /** What USER, CMD, HEALTHCHECK and STOPSIGNAL say. */
  readonly settings = new Map<string, string>();

  /** @param root an empty folder, which gets Node where the base image has it, and nothing else */
  constructor(root: string, from: string) {
    this.root = root;
    const wanted = /^node:(\d+\.\d+\.\d+)-/.exec(from)?.[1];
    if (`v${wanted}` !== process.version) {
      throw new Error(
        `The image has Node ${wanted}, this is ${process.version}: run this under the image's.`,
      );
    }
    const node = this.at('/usr/local/bin/node');
    mkdirSync(dirname(node), { recursive: true });
    copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
    chmodSync(node, 0o755);
  }

  /** Where a path of the image is on this machine. */
  at(path: string): string {
    return join(this.root, path.startsWith('/') ? path : join(this.workdir, path));
  }

  get command(): string[] {
    return execForm(this.settings.get('CMD') ?? '');
  }

  get healthcheck(): string[] {
    return execForm(this.settings.get('HEALTHCHECK')?.replace(/^.*?CMD\s+/, '') ?? '');
  }

  /** How a command of the image is spawned: with its environment alone, as its user where this process may become another. */
  spawned([file = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
    const [uid = 0, gid = 0] = (this.settings.get('USER') ?? '').split(':').map(Number);
    const options = {
      cwd: this.at('.'),
      env: { ...this.locatedEnv('/usr/local/bin:/usr/bin:/bin'), ...env },
      ...(process.getuid?.() === 0 && { uid, gid }),
    };
    return { file: this.at(`/usr/local/bin/${file}`), args, options };
  }

  /** Its variables, absolute paths as they are on this machine; its own Node first on the PATH. */
  locatedEnv(path: string): Record<string, string> {
    const located = Object.entries(this.env).map(([name, value]) => [
      name,
      value.startsWith('/') ? this.at(value) : value,
    ]);
    return { ...Object.fromEntries(located), PATH: `${this.at('/usr/local/bin')}:${path}` };
  }
}

/**
 * Does what `docker build` would, in a folder: every COPY, RUN and ENV of the Dockerfile is carried out in turn, each
 * stage in a sub-folder. Commands see the machine's own shell and npm, since there is no Debian under them.
 * @throws for an instruction it does not know, and when a step fails
 */
export function buildImage(context: string, into: string, print: (line: string) => void): Image {
  const allowed = allowedPaths(readFileSync(join(context, '.dockerignore'), 'utf8'));
  const built = new Map<string, Image>();
  for (const { from, name, instructions } of parseDockerfile(
    readFileSync(join(context, 'Dockerfile'), 'utf8'),
  )) {
    const stage = new Image(join(into, name ?? 'last'), from);
    built.set(name ?? 'last', stage);
    for (const instruction of instructions) {
      print(`${instruction.name} ${instruction.rest}`.slice(0, 110));
      carryOut(instruction, stage, (word, origin) => {
        if (origin === undefined) {
          // A path of the context keeps its place below the target.
          const paths = word === '.' ? allowed : allowed.filter((path) => path === word);
          return paths.map((path) => ({ from: join(context, path), to: path }));
        }
        const path = built.get(origin)?.at(word);
        if (path === undefined) throw new Error(`no stage ${origin}`);
        return [{ from: path, to: statSync(path).isDirectory() ? '.' : basename(path) }];
      });
    }
  }
  const last = built.get('last');
  if (last === undefined) throw new Error('The last stage of the Dockerfile has a name.');
  return last;
}

function carryOut(
  { name, flags, rest }: Instruction,
  stage: Image,
  find: (word: string, origin: string | undefined) => { from: string; to: string }[],
): void {
  switch (name) {
    case 'WORKDIR':
      stage.workdir = rest;
      mkdirSync(stage.at('.'), { recursive: true });
      return;
    case 'ENV':
      Object.assign(stage.env, assignments(rest));
      return;
    case 'RUN':
      execFileSync('/bin/sh', ['-c', rest], {
        cwd: stage.at('.'),
        env: { ...process.env, ...stage.locatedEnv(process.env.PATH ?? ''), NODE_ENV: stage.env.NODE_ENV },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      return;
    case 'COPY': {
      const words = rest.split(/\s+/);
      const target = stage.at(words.pop() ?? '');
      for (const { from, to } of words.flatMap((word) => find(word, flags.from))) {
        cpSync(from, join(target, to), { recursive: true, verbatimSymlinks: true });
      }
      if (flags.chown !== undefined && process.getuid?.() === 0) {
        const [uid = 0, gid = 0] = flags.chown.split(':').map(Number);
        for (const entry of ['', ...readdirSync(target, { recursive: true, encoding: 'utf8' })]) {
          chownSync(join(target, entry), uid, gid);
        }
      }
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
