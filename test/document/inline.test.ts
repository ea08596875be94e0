import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serializeInline } from '../../src/document/inline/markdown.ts';
import { inlineProblems, parseInline, toPlainText, weighInline } from '../../src/document/inline/parse.ts';
import { equalRuns, type InlineRun, normalizeRuns } from '../../src/document/inline/runs.ts';
import { MAX_MARK_PAIRS, MAX_PARAGRAPH_MARKS } from '../../src/document/text/marks.ts';
import { markdownText, plainText } from './arbitraries.ts';

/** Beside a control character emphasis cannot be written: no character reference stands for one. */
const withoutControls = (text: string): string =>
  text.replace(/\p{Cc}/gu, (found) => (found === '\n' ? found : ''));

const anyRuns: fc.Arbitrary<InlineRun[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('text' as const, 'text' as const, 'code' as const),
      text: plainText.map(withoutControls),
      strong: fc.boolean(),
      emphasis: fc.boolean(),
      link: fc.option(
        fc.record({
          url: fc.constantFrom(
            'https://a.example/b?c=1&d=2',
            '/x y',
            'http://a.example/(((',
            'mailto:a@b.example',
            '',
            '&amp;\\<>',
          ),
          title: plainText.map((text) => text.replace(/\s+/g, ' ') || null),
        }),
      ),
    }),
    { maxLength: 6 },
  )
  .map((runs) =>
    runs.map((run) => (run.kind === 'code' ? { ...run, text: run.text.replace(/\s+/g, ' ') } : run)),
  );

describe('limited inline Markdown', () => {
  it('makes emphasis next to Chinese, Japanese and Korean punctuation', () => {
    for (const text of ['**テスト。**次の文', 'これは**「強調」**です', '**마크다운(Markdown)**을']) {
      expect(parseInline(text).some((run) => run.strong)).toBe(true);
      expect(serializeInline(parseInline(text))).toBe(text);
    }
  });

  // contract.md F2
  it('shows everything outside the subset as written', () => {
    for (const text of [
      '<b>bold</b> <script>x</script>',
      '# heading',
      '- item',
      '1. item',
      '> quote',
      '---',
      '~~a~~',
      'a::b <std::string>',
    ]) {
      expect(parseInline(text)).toEqual([{ kind: 'text', text, strong: false, emphasis: false, link: null }]);
    }
    expect(toPlainText('![alt](https://a.example/b.png)')).toBe('!alt');
  });

  // contract.md F3
  it('refuses links with other schemes, however they are disguised', () => {
    for (const url of [
      'javascript:alert(1)',
      'JavaScript:x',
      'java&#x09;script:x',
      'data:text/html,x',
      'vbscript:x',
      '<java\u00a0script:x>',
    ]) {
      expect(inlineProblems(`[x](${url})`), url).toHaveLength(1);
      expect(parseInline(`[x](${url})`).every((run) => run.link === null)).toBe(true);
    }
    for (const url of [
      'https://a.example',
      'http://a',
      'mailto:a@b.example',
      '/a',
      '#a',
      '?a',
      '../a:b/c',
      'a/b',
    ]) {
      const relative = url === '../a:b/c' || !url.includes('javascript');
      expect(inlineProblems(`[x](${url})`), url).toHaveLength(relative ? 0 : 1);
    }
  });

  it('keeps the meaning of any text without control characters when it is written again', () => {
    fc.assert(
      fc.property(markdownText.map(withoutControls), (text) => {
        const runs = parseInline(text);
        expect(equalRuns(parseInline(serializeInline(runs)), runs)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('writes any combination of marks so that it parses back to the same', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        expect(parseInline(serializeInline(runs))).toEqual(normalizeRuns(runs));
      }),
      { numRuns: 400 },
    );
  });

  // contract.md F11
  it('bounds the marks of a paragraph, whose pairing costs more than linear time', () => {
    const few = Math.sqrt(MAX_MARK_PAIRS);
    expect(inlineProblems('*a_ '.repeat(few / 2))).toEqual([]);
    expect(inlineProblems('*a_ '.repeat(few / 2 + 1))[0]).toMatch(/emphasis/);
    expect(inlineProblems('[a](b) '.repeat(MAX_PARAGRAPH_MARKS / 2))).toEqual([]);
    for (const mark of ['[', ']', '`', '<', '&amp;', '\\[', 'a\n', '![', 'a_b ']) {
      expect(inlineProblems(mark.repeat(MAX_PARAGRAPH_MARKS + 2))[0], mark).toMatch(
        /more than 500 Markdown marks/,
      );
      expect(inlineProblems(`${mark.repeat(100)}\n\n`.repeat(20)), mark).toEqual([]);
    }
    // A title that never ends is looked for to the end of the paragraph, so a few are the most.
    expect(inlineProblems('[a](b (x'.repeat(6))[0]).toMatch(/marks/);
    expect(inlineProblems('[a](b "x") '.repeat(50))).toEqual([]);
  });

  it('writes what it accepted within the same bound, whatever the marks', () => {
    const mark = fc.constantFrom(
      ...[
        '*',
        '_',
        '**',
        '`',
        '``',
        '[',
        ']',
        '](b)',
        '](<b>)',
        '](b "t")',
        '![',
        '<',
        '<a@b.c>',
        '<http://a>',
      ],
      ...[
        '&',
        '&amp;',
        '&#x5b;',
        '&#10;',
        '\\',
        '\\*',
        '\\_',
        '\\`',
        '\n',
        '\n\n',
        'a',
        'a_b',
        ' ',
        '。',
        'e\u0301',
        '"',
        '(',
      ],
    );
    const text = fc
      .array(fc.tuple(fc.array(mark, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 120 })), {
        maxLength: 6,
      })
      .map((parts) => parts.map(([marks, times]) => marks.join('').repeat(times)).join(''));
    let accepted = 0;
    fc.assert(
      fc.property(text, (given) => {
        if (inlineProblems(given).length > 0) return;
        accepted += 1;
        const written = serializeInline(parseInline(given));
        expect(weighInline(written).problem).toBeNull();
        // White space at the edges is nobody's text: Markdown does not show it.
        expect(toPlainText(written).replace(/\s+/g, ' ').trim()).toBe(
          toPlainText(given).replace(/\s+/g, ' ').trim(),
        );
      }),
      { numRuns: 200 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it('refuses a link title of more than 200 characters', () => {
    expect(inlineProblems(`[a](b "${'t'.repeat(200)}")`)).toEqual([]);
    expect(inlineProblems(`[a](b "${'t'.repeat(201)}")`)[0]).toMatch(/title/);
  });
});
