/**
 * Does what the real pip does for `python3 -m pip download`, on machines without one: asks PIP_INDEX_URL for the page of
 * the package, follows its link to the wheel, and moves that from TMPDIR to the folder only when it is whole.
 */
import { createWriteStream, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  args: process.argv.slice(4),
  allowPositionals: true,
  options: {
    version: { type: 'boolean' },
    dest: { type: 'string', default: '' },
    platform: { type: 'string', default: '' },
    'no-deps': { type: 'boolean' },
    'only-binary': { type: 'string' },
    timeout: { type: 'string' },
    retries: { type: 'string' },
    'no-input': { type: 'boolean' },
    'disable-pip-version-check': { type: 'boolean' },
    'no-color': { type: 'boolean' },
    'progress-bar': { type: 'string' },
  },
});

if (values.version !== true) {
  const [name = '', version = ''] = positionals[1]?.split('==') ?? [];
  const page = `${process.env.PIP_INDEX_URL}/${name}/`;
  const links = [...(await (await fetch(page)).text()).matchAll(/href="([^"]+)"/g)];
  const link = links.find(([, href = '']) => href.includes(`-${version}-`) && href.includes(values.platform));
  if (link?.[1] === undefined) throw new Error(`No matching distribution found for ${positionals[1]}`);
  const { body } = await fetch(new URL(link[1], page));
  if (body === null) throw new Error('no body');
  const part = join(process.env.TMPDIR ?? '', 'part');
  await pipeline(Readable.fromWeb(body), createWriteStream(part));
  renameSync(part, join(values.dest, link[1].split('/').at(-1) ?? ''));
}
