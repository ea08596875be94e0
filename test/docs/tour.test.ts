import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, inject, onTestFinished, test } from 'vitest';
import { freePorts } from '../../src/ports.ts';
import { migratedFolder } from '../local/migrated-folder.ts';
import { WITH_THREADS } from '../support/processes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...environment } = process.env;

/** Commands of the tour, and the text below them: what they print, `…` standing for any part of a line. */
interface Block {
  readonly commands: string;
  readonly printed: string | null;
}

/** The blocks of the tour: those of the second terminal, after the one command of the first. */
function readTour(): { start: string; blocks: Block[] } {
  const tour = readFileSync(join(root, 'docs/tour.md'), 'utf8');
  const fenced = [...tour.matchAll(/^(<!-- tour: first terminal -->\n)?```(\w+)\n(.*?)^```$/gms)];
  const start = fenced.find(([, marker]) => marker !== undefined)?.[3]?.trim() ?? '';
  const rest = fenced.filter(([, marker]) => marker === undefined);
  const blocks = rest.flatMap(([, , language, commands = ''], index): Block[] => {
    if (language !== 'sh') return [];
    const next = rest[index + 1];
    return [{ commands, printed: next?.[2] === 'text' ? (next[3] ?? '') : null }];
  });
  return { start, blocks };
}

const pattern = (printed: string): RegExp =>
  new RegExp(`^${printed.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^\\n]+?')}$`);

/** A bash that is fed as a person feeds it; both of its outputs in one. */
function terminal(env: NodeJS.ProcessEnv) {
  const child: ChildProcess = spawn('bash', ['--norc'], {
    cwd: root,
    env: { ...env, NODE_NO_WARNINGS: '1', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  // The shell and all that was started in it: a failed test leaves nothing behind.
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid ?? 0), name);
    } catch {
      // Gone already.
    }
  };
  child.stdin?.write('exec 2>&1\n');
  return {
    ended,
    signal,
    type: (line: string) => child.stdin?.write(`${line}\n`),
    /** Resolves with what was printed so far, once it has `text`. */
    async until(text: string): Promise<string> {
      const deadline = Date.now() + 60_000;
      while (!output.includes(text)) {
        if (Date.now() > deadline) throw new Error(`no ${text} within a minute:\n${output}`);
        await sleep(20);
      }
      const before = output.slice(0, output.indexOf(text));
      output = output.slice(output.indexOf(text) + text.length);
      return before;
    },
  };
}

test('the tour works as it is written, block by block, and prints what it says', {
  timeout: 300_000,
}, async () => {
  const folder = await migratedFolder();
  const [port = 0, hookPort = 0] = await freePorts(2);
  const env = {
    ...environment,
    ...WITH_THREADS,
    DATA_DIR: folder,
    WORKFLOW_BUNDLE: inject('workflowBundlePath'),
    LOG_LEVEL: 'warn',
    PORT: String(port),
  };
  const { start, blocks } = readTour();
  expect(blocks.length).toBeGreaterThan(10);

  const first = terminal(env);
  onTestFinished(async () => {
    first.signal('SIGINT');
    await first.ended;
  });
  first.type(`${start}; exit`);
  await first.until('Ctrl-C stops everything');

  const second = terminal(env);
  onTestFinished(() => second.signal('SIGKILL'));
  const own = {
    'http://127.0.0.1:3000': `http://127.0.0.1:${env.PORT}`,
    'HOOK_PORT=4000': `HOOK_PORT=${hookPort}`,
    '.data/receiver.log': join(folder, 'receiver.log'),
  };
  for (const [index, { commands, printed }] of blocks.entries()) {
    let text = commands;
    if (index === 0) {
      for (const [from, to] of Object.entries(own)) {
        expect(text).toContain(from);
        text = text.replace(from, to);
      }
    }
    const mark = `end of block ${index}`;
    second.type(`${text}printf 'end of %s\\n' 'block ${index}'`);
    const output = await second.until(`${mark}\n`);
    expect(output, commands).toMatch(pattern(printed ?? ''));
  }
});
