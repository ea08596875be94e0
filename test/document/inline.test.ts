import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inlineProblems, MAX_EMPHASIS_MARKS, parseInline, toPlainText } from '../../src/document/inline.ts';
import { serializeInline } from '../../src/document/inline-markdown.ts';
import { equalRuns, type InlineRun, normalizeRuns } from '../../src/document/runs.ts';
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
      { numRuns: 3000 },
    );
  });

  it('writes any combination of marks so that it parses back to the same', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        expect(parseInline(serializeInline(runs))).toEqual(normalizeRuns(runs));
      }),
      { numRuns: 3000 },
    );
  });

  it('bounds the marks whose pairing costs quadratic time', () => {
    expect(inlineProblems('*a_ '.repeat(MAX_EMPHASIS_MARKS / 2))).toEqual([]);
    expect(inlineProblems('*a_ '.repeat(MAX_EMPHASIS_MARKS / 2 + 1))).toHaveLength(1);
    expect(inlineProblems('**'.repeat(20_000))).toHaveLength(1);
  });
});
