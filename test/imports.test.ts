import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');

/** From the top to the ground (docs/design.md §2). An import goes to a line further down, or stays in its folder. */
const FLOORS = [
  'server.ts worker.ts',
  'src/cli',
  'src/local',
  'src/processes',
  'workflows',
  'activities',
  'src/reconcile',
  'src/metrics',
  'src/reference',
  'src/export',
  'src/workspaces src/reviews src/assets',
  'src/suggestions src/translations src/generation',
  'src/jobs src/guidance src/research',
  'src/articles',
  'src/projects src/categories',
  'src/webhooks',
  'src/api-keys',
  'src/roles',
  'src/credits',
  'src/events',
  'src/audit',
  'src/http',
  'src/temporal',
  'src/providers',
  'src/outbound',
  'src/media',
  'src/blobs',
  'src/context.ts',
  'src/db',
  'src/threads',
  'src/tracing',
  'src/document',
].map((line) => line.split(' '));

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

const sources = ['server.ts', 'worker.ts'];
for (const folder of ['src', 'workflows', 'activities']) {
  for (const name of readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('.ts')) sources.push(path.join(folder, name));
  }
}
const imports = new Map(
  sources.map((file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    const targets = [...text.matchAll(SPECIFIER)].map(([, to = '']) =>
      path.normalize(path.join(path.dirname(file), to)),
    );
    return [file, targets.filter((target) => target.endsWith('.ts'))];
  }),
);

/** The folder that a file stands in: `src/webhooks` for all below it; single files of src are the ground. */
function roomOf(file: string): string {
  const [first = '', second = '', ...rest] = file.split('/');
  if (first !== 'src') return first;
  return rest.length === 0 ? file : `${first}/${second}`;
}
const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room));

it('an import goes to a lower floor or stays in its folder', () => {
  const unknown = sources.map(roomOf).filter((room) => floorOf(room) < 0 && !room.endsWith('.ts'));
  expect([...new Set(unknown)], 'folders without a floor').toEqual([]);
  const upward = [...imports].flatMap(([file, targets]) => {
    const [from, ground] = [floorOf(roomOf(file)), FLOORS.length];
    return targets
      .filter((target) => {
        if (roomOf(target) === roomOf(file)) return false;
        const to = floorOf(roomOf(target));
        return (to < 0 ? ground : to) <= (from < 0 ? ground - 1 : from);
      })
      .map((target) => `${file} imports ${target}`);
  });
  expect(upward).toEqual([]);
});

it('no file imports itself by a detour', () => {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    const at = trail.indexOf(file);
    if (at >= 0) circles.push([...trail.slice(at), file].join(' -> '));
    if (at >= 0 || done.has(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...trail, file]);
    done.add(file);
  };
  for (const file of sources) visit(file, []);
  expect(circles).toEqual([]);
});
