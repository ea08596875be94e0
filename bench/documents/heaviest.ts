/**
 * The heaviest bodies that the interface accepts, and some that it refuses, each of nearly a mebibyte; and the heaviest
 * ones that are small enough for the event loop.
 */
import { areSmall } from '../../src/threads/pool.ts';

const BYTES = 1024 * 1024 - 2_000;

type Block = Record<string, unknown>;

/** As many blocks as fit, or as the marks allow. */
function filled(block: (index: number) => Block, most = Number.POSITIVE_INFINITY): string {
  const blocks: string[] = [];
  let bytes = 0;
  for (let index = 0; blocks.length < most; index += 1) {
    const json = JSON.stringify(block(index));
    bytes += Buffer.byteLength(json) + 1;
    if (bytes > BYTES) break;
    blocks.push(json);
  }
  return `{"documentJson":{"version":1,"blocks":[${blocks.join(',')}]}}`;
}

const paragraph =
  (text: string, format?: 'markdown') =>
  (index: number): Block => ({ id: `b${index}`, type: 'paragraph', text, ...(format ? { format } : {}) });

const honest = 'Water the *young* plants [in the morning](https://a.example/x "Why"), with `care`. '.repeat(
  8,
);
const thai = 'ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน';

/** By name: the body, and the expected status. */
export const HEAVIEST: Readonly<Record<string, { body: string; status: 200 | 400 }>> = {
  'plain text': { body: filled(paragraph('word '.repeat(3_999))), status: 200 },
  'honest Markdown': { body: filled(paragraph(honest, 'markdown'), 600), status: 200 },
  'all marks allowed, unclosed links': {
    body: filled(paragraph(`${'[a](b'.repeat(166)}${'x'.repeat(9_000)}`, 'markdown'), 100),
    status: 200,
  },
  'all marks allowed, emphasis': {
    body: filled(paragraph(`${'*a '.repeat(50)}${'&amp;'.repeat(290)}${'b* '.repeat(50)}`, 'markdown'), 128),
    status: 200,
  },
  'ten thousand blocks': {
    body: filled((index) => ({ id: `b${index}`, type: 'heading', level: 1, text: `Bed *${index}*` }), 10_000),
    status: 200,
  },
  'tables of 80,000 cells': {
    body: filled(
      (index) => ({
        id: `b${index}`,
        type: 'table',
        header: Array(100).fill('a'),
        rows: Array(80).fill(Array(100).fill('*b')),
      }),
      10,
    ),
    status: 200,
  },
  'text without spaces between words': { body: filled(paragraph(thai.repeat(480))), status: 200 },
  'punctuation that Markdown escapes': { body: filled(paragraph('*_[]<>&\\`|~'.repeat(1_800))), status: 200 },
  code: {
    body: filled((index) => ({ id: `b${index}`, type: 'code', text: '`'.repeat(99_000) })),
    status: 200,
  },
  'ten thousand broken blocks': { body: filled(() => ({ type: 'video' }), 10_000), status: 400 },
  'ninety thousand broken items': {
    body: filled((index) => ({ id: `b${index}`, type: 'list', ordered: 1, items: Array(1_999).fill(0) }), 45),
    status: 400,
  },
};

/** The document with as many parts as leave it small, as a body. */
function justSmall(blocksOf: (parts: number) => readonly Block[]): string {
  const documentOf = (parts: number) => JSON.stringify({ version: 1, blocks: blocksOf(parts) });
  let parts = 1;
  while (areSmall([documentOf(parts + 1)])) parts += 1;
  return `{"documentJson":${documentOf(parts)}}`;
}

/** Parts of one paragraph: with two marks of emphasis each, as many as it may have. */
const PARTS_PER_PARAGRAPH = 100;
const repeated =
  (text: (index: number) => string) =>
  (parts: number): Block[] => {
    const texts = Array.from({ length: parts }, (_, index) => text(index));
    return Array.from({ length: Math.ceil(parts / PARTS_PER_PARAGRAPH) }, (_, index) => {
      const first = index * PARTS_PER_PARAGRAPH;
      return paragraph(texts.slice(first, first + PARTS_PER_PARAGRAPH).join(''), 'markdown')(index);
    });
  };
const cells = (count: number) => Array.from({ length: count }, (_, index) => index.toString(36));

/** By name: a body that is small, and would not be with one part more. */
export const JUST_SMALL: Readonly<Record<string, string>> = {
  'items of a list': justSmall((parts) => [
    { id: 'b', type: 'list', ordered: false, items: cells(parts), format: 'markdown' },
  ]),
  'cells of a table': justSmall((parts) => [
    { id: 'b', type: 'table', header: cells(10), rows: Array(parts).fill(cells(10)), format: 'markdown' },
  ]),
  headings: justSmall((parts) =>
    cells(parts).map((text, index) => ({ id: `b${index}`, type: 'heading', level: 1, text })),
  ),
  autolinks: justSmall(repeated((index) => `<http://a.b/${index}> `)),
  links: justSmall(repeated((index) => `[${index}](b) `)),
  emphasis: justSmall(repeated((index) => `。*中${index}*`)),
  'text without spaces between words': justSmall((parts) => [paragraph(thai.slice(0, 40).repeat(parts))(0)]),
};
