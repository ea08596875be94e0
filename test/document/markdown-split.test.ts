import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly';
import { gfmTable } from 'micromark-extension-gfm-table';
import { describe, expect, it } from 'vitest';
import { parseMarkdown } from '../../src/document/markdown/parse.ts';
import { splitMarkdown } from '../../src/document/markdown/split.ts';

const filler = 'Some words that fill the file. '.repeat(280);
const line = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 2, arbitrary: fc.constantFrom(filler, `[a] ${filler}`) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '# Heading',
      'text',
      '- item',
      '  continued',
      '    deeper',
      '1. first',
      '> quote',
      '```js',
      '```',
      '  ```',
      '- ```',
      '~~~~',
      '<!-- comment',
      'end -->',
      '<pre>',
      '</pre>',
      '<div>',
      '| a | b |',
      '| - | - |',
      '[a]: https://a.example "T"',
      '[b][a] and [A] and [c]',
      '[C]: <x y>',
      '===',
      '---',
    ),
  },
);

const bare = (nodes: readonly Nodes[]) =>
  JSON.stringify(
    nodes.filter((node) => node.type !== 'definition'),
    (key, value: unknown) => (key === 'position' ? undefined : value),
  );

describe('parsing long Markdown files in parts', () => {
  it('cuts long files', () => {
    expect(splitMarkdown(`${filler}\n\n`.repeat(10)).length).toBeGreaterThan(5);
    expect(splitMarkdown('short\n\nfile')).toEqual(['short\n\nfile']);
  });

  it('gives the same nodes as parsing the whole', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
        const source = lines.join('\n');
        expect(splitMarkdown(source).join('\n')).toBe(source);
        const whole = fromMarkdown(source, {
          extensions: [gfmTable(), cjkFriendlyExtension()],
          mdastExtensions: [gfmTableFromMarkdown()],
        });
        expect(bare(parseMarkdown(source).nodes)).toBe(bare(whole.children));
      }),
      { numRuns: 200 },
    );
  });
});
