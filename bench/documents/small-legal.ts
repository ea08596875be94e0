/** The heaviest bodies of at most 64 KiB that create an article, by name. */
import { randomUUID } from 'node:crypto';
import { JUST_SMALL } from './heaviest.ts';

const BYTES = 64 * 1024 - 100;

type Block = Record<string, unknown>;

/** As many blocks as fit. */
function filled(block: (index: number) => Block): string {
  const blocks: string[] = [];
  let bytes = 0;
  for (let index = 0; ; index += 1) {
    const json = JSON.stringify(block(index));
    bytes += Buffer.byteLength(json) + 1;
    if (bytes > BYTES) break;
    blocks.push(json);
  }
  return `{"title":"x","documentJson":{"version":1,"blocks":[${blocks.join(',')}]}}`;
}

const paragraph =
  (text: string, format?: 'markdown') =>
  (index: number): Block => ({ id: `b${index}`, type: 'paragraph', text, ...(format ? { format } : {}) });

/** Twenty links to articles. */
const links = (index: number): Block => {
  const words = Array.from({ length: 20 }, (_, link) => (index * 20 + link).toString(36));
  return {
    ...paragraph(words.join(' '))(index),
    links: words.map((text) => ({ articleId: randomUUID(), text })),
  };
};

/** A document that the event loop works on, to create an article. */
const small = (name: string): string => `{"title":"x",${(JUST_SMALL[name] ?? '{}').slice(1)}`;

export const WORST: Readonly<Record<string, string>> = {
  'a thousand links': filled(links),
  'nested emphasis': filled(paragraph(`${'*a '.repeat(50)}${'b* '.repeat(50)}`, 'markdown')),
  'unclosed links': filled(paragraph('[a](b'.repeat(166), 'markdown')),
  emoji: filled(paragraph(`${'👩‍👩‍👧‍👦🏳️‍🌈 '.repeat(60)}*👍🏽*`, 'markdown')),
  'a small table': small('cells of a table'),
  'small links': small('links'),
  'small emphasis': small('emphasis'),
};
