import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every command of the operator, such as `key list`, with its options. */
async function commands(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  const add = (command: Command, before: string): void => {
    const name = `${before}${command.name()}`;
    found.set(name, new Set(command.options.map(({ long }) => long ?? '')));
    for (const each of command.commands) add(each, `${name} `);
  };
  for (const file of globSync('src/cli/commands/*.ts', { cwd: root })) {
    const module: Record<string, unknown> = await import(`${root}${file}`);
    for (const [name, make] of Object.entries(module)) {
      if (name.endsWith('Command') && typeof make === 'function') add(make(), '');
    }
  }
  return found;
}

it('every command of the pages for operators is there, with its options', async () => {
  const known = await commands();
  const unknown: string[] = [];
  let named = 0;
  for (const page of ['docs/operating.md', 'docs/runbooks.md']) {
    for (const [text, line = ''] of readFileSync(`${root}${page}`, 'utf8').matchAll(
      /`admin ([a-z][^`]*)`/g,
    )) {
      named += 1;
      const [first = '', second = '', ...rest] = line.split(' ');
      const options = known.get(`${first} ${second}`) ?? known.get(first);
      const isMissing =
        known.get(first) === undefined ||
        (/^[a-z]/.test(second) && !second.startsWith('http') && !known.has(`${first} ${second}`));
      const wrong = [second, ...rest].filter((word) => word.startsWith('--') && options?.has(word) === false);
      if (isMissing || wrong.length > 0) unknown.push(`${page}: ${text}`);
    }
  }
  expect(named).toBeGreaterThan(25);
  expect(unknown).toEqual([]);
});
