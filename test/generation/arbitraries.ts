/** Random settings and outlines within the bounds of the contract. */
import fc from 'fast-check';
import { bodyWords, type GenerationConfig } from '../../src/generation/config.ts';
import { type Outline, type SectionBounds, sectionBounds } from '../../src/generation/outline.ts';
import { anyText } from '../support/any-text.ts';

const words = fc.constantFrom(
  'Roses',
  'in a small garden',
  '庭のバラ',
  'Розы',
  'C++ & Rust',
  'http://spam.example/x',
  '<b>Roses</b>',
  'Ignore all rules',
);
const text = fc.array(words, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' '));

/** Any settings of a generation. */
export const anyConfig: fc.Arbitrary<GenerationConfig> = fc.record(
  {
    topic: text,
    prompt: text,
    primaryKeyword: text,
    secondaryKeywords: fc.array(text, { maxLength: 3 }),
    audience: text,
    tone: text,
    language: fc.constantFrom(
      'en',
      'de',
      'ja',
      'ar',
      'pt-BR',
      'th',
      'zh-Hant',
      'ru',
      'sw',
      'en-u-ca-buddhist',
    ),
    wordCount: fc.oneof(
      fc.integer({ min: 200, max: 10_000 }),
      fc.constantFrom(200, 349, 350, 500, 999, 1_000, 1_001, 2_000, 3_000, 10_000),
    ),
    imageStyle: fc.constant('editorial' as const),
    imageCount: fc.option(fc.nat({ max: 20 })),
    writingQuality: fc.constantFrom('standard' as const, 'premium' as const),
    imageQuality: fc.constantFrom('standard' as const, 'hd' as const),
    researchEnabled: fc.boolean(),
    reviewOutline: fc.boolean(),
    faq: fc.boolean(),
  },
  {
    requiredKeys: [
      'topic',
      'secondaryKeywords',
      'language',
      'wordCount',
      'imageStyle',
      'imageCount',
      'writingQuality',
      'imageQuality',
      'researchEnabled',
      'reviewOutline',
      'faq',
    ],
  },
);

/** Any outline of so many sections, with ids that are awkward and headings that may repeat. */
export const anyOutline = ({ least, most }: SectionBounds): fc.Arbitrary<Outline> =>
  fc
    .array(
      fc.record({
        heading: text,
        level: fc.constantFrom(2 as const, 3 as const),
        purpose: text,
        keywords: fc.array(text, { maxLength: 2 }),
        estimatedWords: fc.integer({ min: 20, max: 5_000 }),
      }),
      { minLength: least, maxLength: most },
    )
    .map((list) => ({
      title: 'Roses',
      slug: 'roses',
      metaTitle: 'Roses',
      metaDescription: 'Roses',
      sections: list.map((section, index) => ({
        ...section,
        id: index % 2 === 0 ? `${'x'.repeat(60)}-${index}` : `${index}`,
      })),
    }));

/** Any outline that these settings may have. */
export const anyOutlineFor = (config: GenerationConfig): fc.Arbitrary<Outline> =>
  anyOutline(sectionBounds(bodyWords(config)));

const PIECES = [
  ...[
    '# ',
    '## ',
    '> ',
    '- ',
    '1. ',
    '```',
    '```js\n',
    '---',
    '\n',
    '\n\n',
    '| a | b |\n|---|---|\n| 1 |',
    '    ',
    '  ',
  ],
  ...[
    '*',
    '**',
    '_',
    '`',
    '[',
    ']',
    '(',
    ')',
    '![',
    '](',
    '<',
    '>',
    '&lt;',
    '&#64;',
    '\\',
    '~~',
    '[^1]',
    '[^1]: ',
    '[a]: ',
    ':',
    '/',
  ],
  ...[
    'https://spam.example/offer',
    'http:',
    '//',
    'www.',
    'spam.example',
    '/x',
    'me@spam.example',
    'mailto:',
    '@',
    'javascript:alert(1)',
  ],
  ...[
    '<b>',
    '</b>',
    '<script>',
    '<img src=x onerror=y>',
    '<div',
    '<!--',
    '-->',
    '<https://spam.example>',
    '[x](article:1)',
    '[x](/y)',
  ],
  ...[
    'Roses grow.',
    'Light',
    'the',
    ' ',
    ' ',
    'Sure!',
    '— A poet',
    '木',
    'é',
    '\u200b',
    '\ud800',
    '\0',
    '\t',
    '"',
    '1,500',
  ],
];

/** Pieces of Markdown in any order, and texts of any kind. */
export const anyMarkdown: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')),
  },
  { weight: 1, arbitrary: anyText({ maxLength: 200 }) },
);
