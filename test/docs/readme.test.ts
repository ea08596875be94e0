import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'examples/README.md',
  ...globSync('docs/**/*.md', { cwd: root }),
];

/** The variables of the table, each with what its row says of its default. */
function documented(): Map<string, string> {
  const rows = [...read('docs/configuration.md').matchAll(/^\| (`[^|]+`) +\| ([^|]*)\|/gm)];
  return new Map(
    rows.flatMap(([, names = '', value = '']) =>
      [...names.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']): [string, string] => [
        name,
        value.trim(),
      ]),
    ),
  );
}

/** The variables of src/config.ts, each with the literal default it has, if it has one. */
const configured = new Map(
  [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+): (?:optional|withDefault)\((.*)\),?$/gm)].map(
    ([, name = '', given = '']): [string, string | null] => {
      const [, text, number] = /, (?:'([^']*)'|([\d_.]+))$/.exec(given) ?? [];
      return [name, text ?? number?.replaceAll('_', '') ?? null];
    },
  ),
);

test('the table of variables has exactly those that the service reads, with the defaults they have', () => {
  const table = documented();
  expect(configured.size).toBeGreaterThan(25);
  expect([...configured.keys()].filter((name) => !table.has(name))).toEqual([]);
  const sources = globSync('{src,activities,workflows}/**/*.ts', { cwd: root }).map(read).join('\n');
  const unread = [...table.keys()].filter((name) => !configured.has(name) && !sources.includes(`.${name}`));
  expect(unread).toEqual([]);
  for (const [name, value] of configured) {
    if (value !== null && value !== '') expect([name, table.get(name)]).toEqual([name, `\`${value}\``]);
  }
});

test('every script that a page names is there, and every other script is named on some page', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = new Set(
    pages.flatMap((page) =>
      [...read(page).matchAll(/npm run (?:--silent )?([a-z][\w:-]*)/g)].map(([, name = '']) => name),
    ),
  );
  expect([...named].filter((name) => !(name in scripts))).toEqual([]);
  const unnamed = Object.keys(scripts).filter(
    (name) => !['start', 'test'].includes(name) && !named.has(name),
  );
  expect(unnamed).toEqual([]);
});

test('every link between the pages leads to a file that is there, and to a heading it has', () => {
  const slug = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-');
  const broken: string[] = [];
  for (const page of pages) {
    for (const [, link = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(?:https?:|mailto:)/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, file))) broken.push(`${page}: ${link}`);
      else if (anchor !== undefined) {
        const headings = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => slug(text));
        if (!headings.includes(anchor)) broken.push(`${page}: ${link}`);
      }
    }
  }
  expect(broken).toEqual([]);
});

test('the page about conflicts has every reason that the service gives', () => {
  const page = read('docs/errors/conflict.md');
  const reasons = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/\bconflict\(\s*(?:'[^']*'|`[^`]*`),\s*'(\w+)'/g)].map(
      ([, reason = '']) => reason,
    ),
  );
  expect(reasons.length).toBeGreaterThan(10);
  const listed = [...page.matchAll(/^- `(\w+)`:/gm)].map(([, reason = '']) => reason);
  expect(listed).toEqual([...new Set(reasons)].sort());
});
