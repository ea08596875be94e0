import '../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { Block } from '../../src/document/format/schema.ts';
import { renderDocument } from '../../src/document/render/document.ts';
import { addressesIn } from '../../src/generation/writing/markdown/addresses.ts';
import { shapeQuestions } from '../../src/generation/writing/markdown/faq.ts';
import { type PartRules, readPart } from '../../src/generation/writing/markdown/read.ts';
import { anyMarkdown } from './arbitraries.ts';

const articles = [
  { id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11', title: 'All about mulch' },
  { id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a12', title: 'Soil' },
];
const rules: PartRules = {
  section: { id: 'a', heading: 'Light', level: 2 },
  articles,
  earlier: new Set(['roses need water every day in july']),
  said: 'Roses',
  addresses: addressesIn(['See https://shop.example/roses and write to us@shop.example.']),
};
const read = (text: string, more: Partial<PartRules> = {}) => readPart(text, { ...rules, ...more });
/** The blocks without their ids. */
const blocksOf = (text: string, more: Partial<PartRules> = {}) =>
  read(text, more).blocks.map(({ id: _, ...block }) => block);
const p = (text: string) => ({ type: 'paragraph', text });
const md = (text: string) => ({ type: 'paragraph', text, format: 'markdown' });

describe('a response', () => {
  // contract.md G57
  it('keeps paragraphs, emphasis, lists, tables, code and headings', () => {
    const text = [
      'Roses *like* **light** and `water`.',
      '### In winter',
      '- one\n- two\n  - three',
      '| a | b |\n|---|:-:|\n| 1 | **2** |',
      '```bash\nfor i in arr[0][1]; do echo "<head>"; done\n\necho $5/month\n```',
      '#### Deeper\n\nMore text.',
    ].join('\n\n');
    expect(read(text)).toMatchObject({ mended: {}, defects: [] });
    expect(blocksOf(text)).toEqual([
      md('Roses *like* **light** and `water`.'),
      { type: 'heading', level: 3, text: 'In winter' },
      {
        type: 'list',
        ordered: false,
        items: ['one', 'two'],
        children: [null, { ordered: false, items: ['three'] }],
      },
      {
        type: 'table',
        header: ['a', 'b'],
        rows: [['1', '**2**']],
        align: [null, 'center'],
        format: 'markdown',
      },
      { type: 'code', language: 'bash', text: 'for i in arr[0][1]; do echo "<head>"; done\n\necho $5/month' },
      { type: 'heading', level: 4, text: 'Deeper' },
      p('More text.'),
    ]);
    const ids = read(text).blocks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(read(text).blocks.map(({ id }) => id)).toEqual(ids);
  });

  // contract.md G57
  it.each([
    [
      'a link',
      'See [our partner](https://spam.example/offer) now.',
      [p('See our partner now.')],
      { link: 1 },
    ],
    ['a relative link', 'See [here](/admin).', [p('See here.')], { link: 1 }],
    ['a reference', 'See [here][1].\n\n[1]: https://spam.example/x', [p('See here.')], { link: 2 }],
    ['an autolink', 'See <https://spam.example/x>.', [p('See spam.example.')], { link: 1, address: 1 }],
    ['an address', 'See https://user@spam.example/x?y=1.', [p('See spam.example.')], { address: 1 }],
    [
      'an address without a path',
      'See http://www.spam.example now.',
      [p('See spam.example now.')],
      { address: 1 },
    ],
    [
      'an address without a scheme',
      'See spam.example/offer now.',
      [p('See spam.example now.')],
      { address: 1 },
    ],
    ['www', 'See www.spam.example.', [p('See spam.example.')], { address: 1 }],
    ['an e-mail address', 'Ask me@spam.example today.', [p('Ask today.')], { address: 1 }],
    ['mailto', 'Ask mailto:me@spam.example.', [p('Ask.')], { address: 1 }],
    [
      'an address in inline code',
      'Open `https://spam.example/x`.',
      [md('Open `spam.example`.')],
      { address: 1 },
    ],
    [
      'an address in code',
      '```\ncurl https://spam.example/x\ncurl http://localhost:3000/x\n```',
      [{ type: 'code', text: 'curl spam.example\ncurl http://localhost:3000/x' }],
      { address: 1 },
    ],
    [
      'addresses that the customer wrote',
      'See https://shop.example/roses or us@shop.example.',
      [p('See https://shop.example/roses or us@shop.example.')],
      {},
    ],
    [
      'hosts',
      'With Socket.io, Booking.com and example.com.',
      [p('With Socket.io, Booking.com and example.com.')],
      {},
    ],
    ['HTML', 'Roses <b>grow</b><br>well.', [p('Roses grow well.')], { html: 3 }],
    ['a block of HTML', '<div onclick="go()">\nA box.\n</div>', [p('A box.')], { html: 1 }],
    ['escaped HTML', 'Roses &lt;script&gt;grow&lt;/script&gt;.', [p('Roses grow.')], { html: 2 }],
    ['a comment', 'Roses grow.<!-- note -->', [p('Roses grow.')], { html: 1 }],
    ['an image', '![A rose](rose.png) Roses grow.', [p('A rose Roses grow.')], { image: 1 }],
    [
      'a heading of level 1',
      '# Sun\n\nRoses grow.',
      [{ type: 'heading', level: 3, text: 'Sun' }, p('Roses grow.')],
      { heading: 1 },
    ],
    ['its own heading', '## Light\n\nRoses grow.', [p('Roses grow.')], { heading: 1 }],
    ['a bold heading of its own', '# **Light**\n\nRoses grow.', [p('Roses grow.')], { heading: 1 }],
    [
      'headings out of order',
      '# A\n\nOne.\n\n### B\n\nTwo.',
      [
        { type: 'heading', level: 3, text: 'A' },
        p('One.'),
        { type: 'heading', level: 4, text: 'B' },
        p('Two.'),
      ],
      { heading: 1 },
    ],
    ['a heading without text', 'Roses grow.\n\n### Next', [p('Roses grow.')], { heading: 1 }],
    [
      'two headings in a row',
      '### A\n\n### B\n\nText.',
      [{ type: 'heading', level: 3, text: 'B' }, p('Text.')],
      { heading: 1 },
    ],
    [
      'a line over dashes',
      `${'Roses grow well here. '.repeat(8)}\n---\n\nMore.`,
      [p(`${'Roses grow well here. '.repeat(8)}`.trim()), p('More.')],
      { heading: 1 },
    ],
    ['a quote without a source', '> Roses are red.\n\nYes.', [p('Roses are red.'), p('Yes.')], { quote: 1 }],
    [
      'a quote with its source',
      '> Roses are red.\n>\n> — A poet',
      [{ type: 'quote', text: 'Roses are red.', attribution: 'A poet' }],
      {},
    ],
    ['rules', 'One.\n\n---\n\nTwo.\n\n***', [p('One.'), p('Two.')], { rule: 2 }],
    ['footnotes', 'One.[^1]\n\n[^1]: A note here.', [p('One.')], { footnote: 2 }],
    [
      'a paragraph twice',
      'Roses like the sun more than rain.\n\nRoses like the sun more than rain.',
      [p('Roses like the sun more than rain.')],
      { repeated: 1 },
    ],
    [
      'a paragraph of an earlier part',
      'Roses need water every day in July.\n\nMore.',
      [p('More.')],
      { repeated: 1 },
    ],
    ['a strike', 'Roses ~~do not~~ grow.', [p('Roses do not grow.')], {}],
    ['an opening', 'Absolutely! Here is the section: Roses grow.', [p('Roses grow.')], { chatter: 1 }],
    [
      'an opening on its own',
      'Sure! Here is the section:\n\nRoses grow.',
      [p('Roses grow.')],
      { chatter: 1 },
    ],
    ['a closing', 'Roses grow. Let me know if you need more!', [p('Roses grow.')], { chatter: 1 }],
    [
      'a bold closing',
      'Roses *grow*. **Let me know if you need more!**',
      [md('Roses *grow*.')],
      { chatter: 1 },
    ],
    ['a bold opening', '**Here is the section:** Roses grow.', [p('Roses grow.')], { chatter: 1 }],
    [
      'a closing on its own',
      'Roses grow.\n\n---\n\nWord count: 12',
      [p('Roses grow.')],
      { chatter: 1, rule: 1 },
    ],
    [
      'a closing about itself',
      'Roses grow. As an AI language model, I cannot know.',
      [p('Roses grow.')],
      { chatter: 1 },
    ],
    [
      'a fence around it',
      'Here is the section:\n\n```markdown\n## Light\n\nRoses grow.\n```',
      [p('Roses grow.')],
      { heading: 1 },
    ],
    ['a link to an article that is not listed', 'See [mulch](article:9).', [p('See mulch.')], { link: 1 }],
  ])('is mended: %s', (_, text, blocks, mended) => {
    expect(blocksOf(text)).toEqual(blocks);
    expect(read(text)).toMatchObject({ mended, defects: [] });
    expect(read(text).mended).toEqual(mended);
  });

  // contract.md G36
  it('links listed articles by their numbers, in paragraphs', () => {
    const text = 'See [**mulch**](article:1) and [soil](article:2).\n\n- [soil](article:2) in a list';
    expect(blocksOf(text)).toEqual([
      {
        type: 'paragraph',
        text: 'See mulch and soil.',
        links: [
          { text: 'mulch', articleId: articles[0]?.id },
          { text: 'soil', articleId: articles[1]?.id },
        ],
      },
      { type: 'list', ordered: false, items: ['soil in a list'] },
    ]);
  });

  // contract.md G35
  it.each([
    ['nothing', ' \n\n', 'empty'],
    ['its own heading alone', '## Light', 'empty'],
    ['a refusal', "I'm sorry, but I can't help with that request.", 'refused'],
    ['another one', 'I cannot write about this topic.', 'refused'],
    ['one in German', 'Leider kann ich dabei nicht helfen.', 'refused'],
    ['a cut sentence', 'Roses grow. They grow best where the', 'truncated'],
    ['a cut sentence after a comma', 'Roses grow. Water,', 'truncated'],
    [
      'talk in the middle',
      'Roses grow.\n\nAs an AI language model, I cannot know.\n\nThey like light.',
      'chatter',
    ],
    ['a placeholder', 'Roses grow, says [insert name here] today.\n\nThey do.', 'chatter'],
  ])('is asked for again: %s', (_, text, code) => {
    expect(read(text).defects).toMatchObject([{ code }]);
  });

  it.each([
    'A plan costs $5/month',
    'Roses grow.\n\n**Tip**',
    'Roses grow:\n\n- in the sun\n- in the shade',
    'Run this:\n\n```\nnpm start\n```',
    'Of course roses need light! In the 1990s. They were the first to say so.',
    'Of course, this depends on the soil.\n\n### Should I add compost?\n\nAbsolutely! Feel free to ask your neighbours, too.',
    'Unfortunately, roses cannot grow there.',
    'I have written a list of roses.\n\nI have written the names down. Would you like to continue with lilies?',
    'Node.js, ASP.NET and the file README.md are names. So is `regex.test(x)`, e.g. in v1.2.3.',
    'It costs 3 < 5 and 7 > 6 euros, and/or more. “Why?” she asked. See chapter 3 (p. 12).',
    'กุหลาบต้องการแสงแดดและน้ำ',
    'バラは日光が好きです。',
  ])('may say: %s', (text) => {
    expect(read(text)).toMatchObject({ mended: {}, defects: [] });
  });

  // contract.md G36
  it.each([
    ['What lorem ipsum is for', 'Lorem ipsum is a text without a meaning.\n\nIt is old.'],
    ['A letter that begins with [your name]', 'Write [your name] at the top.\n\nThen go on.'],
  ])('may speak of what the customer has it written about: %s', (said, text) => {
    expect(read(text, { said }).defects).toEqual([]);
    expect(read(text).defects).toMatchObject([{ code: 'chatter' }]);
  });
});

describe('questions', () => {
  const faq = (text: string) =>
    readPart(
      text,
      { ...rules, section: { id: ' faq', heading: 'Frequently asked questions', level: 2 } },
      { shape: shapeQuestions },
    ).blocks.map((block) => (block.type === 'heading' ? `${block.level} ${block.text}` : block.type));
  const wanted = ['3 Why?', 'paragraph', '3 How?', 'paragraph', '3 When?', 'paragraph'];

  // contract.md G41
  it.each([
    ['as asked', '### Why?\n\nSo.\n\n### How?\n\nWell.\n\n### When?\n\nNow.'],
    [
      'below their heading',
      '## Frequently asked questions\n\n### Why?\n\nSo.\n\n### How?\n\nWell.\n\n### When?\n\nNow.',
    ],
    ['below another heading', '# FAQ\n\n### Why?\n\nSo.\n\n### How?\n\nWell.\n\n### When?\n\nNow.'],
    ['too high', '# Why?\n\nSo.\n\n# How?\n\nWell.\n\n# When?\n\nNow.'],
    ['too low', '##### Why?\n\nSo.\n\n##### How?\n\nWell.\n\n##### When?\n\nNow.'],
    ['in bold', '**Why?**\n\nSo.\n\n**How?**\n\nWell.\n\n**When?**\n\nNow.'],
    [
      'after an opening',
      'Sure! Here are the questions:\n\n### Why?\n\nSo.\n\n### How?\n\nWell.\n\n### When?\n\nNow.',
    ],
  ])('are headings of level 3 when they come %s', (_, text) => {
    expect(faq(text)).toEqual(wanted);
  });
});

const TAGS =
  /<(?!\/?(?:p|h[2-6]|ul|ol|li|table|thead|tbody|tr|th|td|strong|em|code|pre|blockquote|cite|br|footer|figure|figcaption)\b)[^>]*>/;

/** What may never be saved, whatever was written. */
function expectClean(blocks: readonly Block[]): void {
  const document = { version: 1 as const, blocks: [...blocks] };
  expect(parseDocument(document)).toMatchObject({ ok: true });
  const { html } = renderDocument(document);
  expect(html).not.toMatch(TAGS);
  const shown = JSON.stringify(document);
  expect(shown).not.toMatch(
    /https?:\/\/\w|mailto:\w|(?<![\p{L}\p{M}\p{N}_@.-])www\.\w|[\w.+-]@[a-z0-9-]+\.[a-z]/iu,
  );
  expect(blocks.every((block) => block.type !== 'heading' || block.level > 2)).toBe(true);
  expect(blocks.every(({ type }) => type !== 'divider' && type !== 'image')).toBe(true);
}

describe('any Markdown', () => {
  // contract.md G58
  it('makes valid blocks without addresses, HTML, links or high headings', () => {
    fc.assert(
      fc.property(anyMarkdown, (text) => {
        const { blocks } = read(text, { addresses: new Set() });
        expectClean(blocks);
        expectClean(readPart(text, { ...rules, addresses: new Set() }, { shape: shapeQuestions }).blocks);
      }),
      { numRuns: 1_000 },
    );
  });

  // contract.md G58
  it.each([
    '[',
    '<',
    '*',
    '_',
    '`',
    '>',
    '> ',
    '- ',
    '1. ',
    '# ',
    '\n',
    '|',
    '|-',
    '&',
    '\\',
    '![',
    '](',
    '[a](',
    '<a ',
    '<!--',
    '*a ',
    '**a',
    '```\n',
    '- a\n',
    'a\n',
    '|a|\n',
    '[a]: b\n',
    'a@',
    'a.',
    'http://',
    'www.',
    '//a.b',
    '~~',
    ' ',
    '\t',
    '[^1]',
    '“',
    'a. ',
    'ab@c.de ',
    'Sure! ',
  ])('costs little time: %j without end', (unit) => {
    const text = unit.repeat(Math.ceil(65_536 / unit.length));
    const begun = performance.now();
    read(text);
    readPart(text, rules, { shape: shapeQuestions });
    expect(performance.now() - begun).toBeLessThan(4_000);
  });

  it('that nests without end costs little time', () => {
    const nested = [
      Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth * 2)}- a`).join('\n'),
      Array.from({ length: 300 }, () => `${'> '.repeat(100)}a`).join('\n'),
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
      `${'*a'.repeat(10_000)}${'*'.repeat(10_000)}`,
      `<div>${'<b>'.repeat(20_000)}`,
    ];
    const begun = performance.now();
    for (const text of nested) read(text);
    expect(performance.now() - begun).toBeLessThan(4_000);
  });
});
