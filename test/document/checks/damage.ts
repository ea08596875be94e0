/** Translations with one thing wrong. */
import type { DefectCode } from '../../../src/document/translation/checks/defects.ts';
import { lengthOf } from '../../../src/document/translation/checks/length.ts';
import type { SegmentFacts } from '../../../src/document/translation/checks/segment.ts';
import { type Language, TARGETS, type Target, translated } from './udhr.ts';

/** A text and its translation by a person, and the same with tags, figures and terms behind it. */
export interface Sample {
  readonly language: Target;
  readonly source: string;
  readonly target: string;
  /** What is appended to both. */
  readonly extra: { readonly source: string; readonly target: string };
  /** The same text in a language that looks like the target's. */
  readonly neighbour: string;
}

/** A sentence with a year, a length, a share, a count, a linked term and a name, in English and as it is translated. */
const SENTENCES: Record<Target | 'en', { text: string; term: string; name: string; unit: string }> = {
  en: {
    text: 'In {year} the {term} of Nordlicht measured {length} {unit}<x id="2"/>, and {share}% of {count} people came.',
    term: 'reading garden',
    name: 'Northern Light',
    unit: 'km',
  },
  de: {
    text: 'Im Jahr {year} maß der {term} von Nordlicht {length} {unit}<x id="2"/>, und {share} % von {count} Menschen kamen.',
    term: 'Lesegarten',
    name: 'Nordschein',
    unit: 'km',
  },
  es: {
    text: 'En {year} el {term} de Nordlicht medía {length} {unit}<x id="2"/> y vino el {share} % de {count} personas.',
    term: 'jardín de lectura',
    name: 'Luz del Norte',
    unit: 'km',
  },
  ru: {
    text: 'В {year} году {term} Nordlicht имел длину {length} {unit}<x id="2"/>, и пришли {share} % из {count} человек.',
    term: 'читальный сад',
    name: 'Северный свет',
    unit: 'км',
  },
  ja: {
    text: '{year}年、Nordlichtの{term}は長さ{length}{unit}<x id="2"/>で、{count}人のうち{share}%が来ました。',
    term: '読書庭園',
    name: '北の光',
    unit: 'キロ',
  },
  ar: {
    text: 'في عام {year} كان طول {term} في Nordlicht {length} {unit}<x id="2"/> وجاء {share}٪ من {count} شخص.',
    term: 'حديقة القراءة',
    name: 'نور الشمال',
    unit: 'كم',
  },
  zh: {
    text: '{year}年，Nordlicht的{term}长{length}{unit}<x id="2"/>，{count}人中有{share}%到场。',
    term: '阅读花园',
    name: '北方之光',
    unit: '公里',
  },
};
const LOCALES: Record<Target | 'en', string> = {
  en: 'en',
  de: 'de',
  es: 'es',
  ru: 'ru',
  ja: 'ja',
  ar: 'ar-EG',
  zh: 'zh',
};
const NEIGHBOURS: Record<Target, Language> = { de: 'nl', es: 'pt', ru: 'uk', ja: 'zh', ar: 'fa', zh: 'ja' };

const figuresOf = (index: number) => ({
  year: 1850 + ((index * 37) % 140),
  length: 13.5 + ((index * 7) % 80),
  share: 21 + ((index * 11) % 70),
  count: 23_401 + index * 1_117,
});

function sentence(
  language: Target | 'en',
  index: number,
  change: Partial<Record<string, string>> = {},
): string {
  const { text, term, unit } = SENTENCES[language];
  const format = new Intl.NumberFormat(LOCALES[language]);
  const { year, ...figures } = figuresOf(index);
  const parts: Record<string, string> = {
    year: new Intl.NumberFormat(LOCALES[language], { useGrouping: false }).format(year),
    ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, format.format(value)])),
    term: `<a id="1">${term}</a>`,
    unit,
    ...change,
  };
  return text.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '');
}

/** 500 texts in six languages. */
export const SAMPLES: readonly Sample[] = TARGETS.flatMap((language) => {
  const near = new Map(translated(NEIGHBOURS[language]).map(({ source, target }) => [source, target]));
  return translated(language).map(({ source, target }, index) => ({
    language,
    source,
    target,
    extra: { source: sentence('en', index), target: sentence(language, index) },
    neighbour: near.get(source) ?? '',
  }));
}).slice(0, 500);

/** A paragraph that is translated from English, without a glossary. */
export const facts = (targetLanguage: string, more: Partial<SegmentFacts> = {}): SegmentFacts => ({
  kind: 'paragraph',
  sourceLanguage: 'en',
  targetLanguage,
  glossary: [],
  pseudo: false,
  ...more,
});

/** The same with the glossary of the samples. */
export const factsOf = (language: Target): SegmentFacts =>
  facts(language, {
    glossary: [
      { source: SENTENCES.en.term, target: SENTENCES[language].term, caseSensitive: false },
      { source: 'Nordlicht', target: null, caseSensitive: true },
    ],
  });

/** One thing wrong with a translation. */
export interface Damage {
  readonly what: string;
  /** What has to say so. */
  readonly code: DefectCode;
  readonly facts?: Partial<SegmentFacts>;
  /** The damaged pair; null for a text that it cannot be done to. */
  readonly pair: (sample: Sample, index: number) => readonly [source: string, translated: string] | null;
}

const extended =
  (change: (target: string, sample: Sample, index: number) => string) =>
  (sample: Sample, index: number): [string, string] => [
    `${sample.source} ${sample.extra.source}`,
    `${sample.target} ${change(sample.extra.target, sample, index)}`,
  ];
const plain =
  (letters: number, change: (sample: Sample, index: number) => string) =>
  (sample: Sample, index: number): [string, string] | null =>
    lengthOf(sample.source) < letters ? null : [sample.source, change(sample, index)];

/** The sentence with some of its figures or words changed. */
const rewritten = (
  change: (sample: Sample, figures: ReturnType<typeof figuresOf>) => Record<string, string>,
) =>
  extended((_target, sample, index) => {
    const place = SAMPLES.slice(0, index).filter(({ language }) => language === sample.language).length;
    return sentence(sample.language, place, change(sample, figuresOf(place)));
  });
const written = ({ language }: Sample, value: number) =>
  new Intl.NumberFormat(LOCALES[language]).format(value);

const LEADS: Record<Target, string[]> = {
  de: ['Sure! Here is the translation: ', 'Hier ist die Übersetzung: '],
  es: ["Certainly! Here's the translated text:\n", 'Aquí está la traducción:\n'],
  ru: ['Here is the translation into Russian:\n\n', 'Вот перевод: '],
  ja: ['Sure! ', '以下は翻訳です：'],
  ar: ['Of course! Here is the Arabic version:\n', 'إليك الترجمة: '],
  zh: ['Sure, here is the translation: ', '以下是翻译：'],
};
const NOTES: Record<Target, string[]> = {
  de: [' (Note: "dignity" could be rendered otherwise.)', '\n\nAnmerkung: Der Ton ist förmlich.'],
  es: ['\nNote: I kept the formal tone.', ' (Nota: se mantiene el tono formal.)'],
  ru: ['\n\nNote: the tone is formal.', '\nПримечание: стиль официальный.'],
  ja: ['\n\nNote: the tone is formal.', '（注：文体は固いです。）'],
  ar: ['\nNote: I kept the tone.', '\nملاحظة: الأسلوب رسمي.'],
  zh: ['\n\nNote: formal tone.', '（注：语气正式。）'],
};
const LEAKED: Record<Target, string> = {
  de: '自由',
  es: 'право',
  ru: '自由',
  ja: 'право',
  ar: '自由',
  zh: 'право',
};

export const DAMAGES: readonly Damage[] = [
  { what: 'a tag is lost', code: 'tags', pair: extended((text) => text.replace(/<\/?a[^>]*>/g, '')) },
  { what: 'a tag occurs twice', code: 'tags', pair: extended((text) => `${text} <x id="2"/>`) },
  {
    what: 'a tag has another number',
    code: 'tags',
    pair: extended((text) => text.replace('a id="1"', 'a id="7"')),
  },
  { what: 'a tag stays open', code: 'markup', pair: extended((text) => text.replace('</a>', '')) },
  { what: 'nothing is answered', code: 'empty', pair: ({ source }) => [source, ' '] },
  { what: 'half a character', code: 'characters', pair: ({ source, target }) => [source, `${target}\ud83d`] },
  {
    what: 'one word for the whole',
    code: 'length',
    pair: plain(40, ({ target }) => [...target.split(/\s/, 1).join('')].slice(0, 8).join('')),
  },
  {
    what: 'the first third alone',
    code: 'length',
    pair: plain(80, ({ target }) => target.slice(0, target.length / 3)),
  },
  {
    what: 'the whole twice',
    code: 'length',
    pair: plain(60, ({ target }) => `${target} ${target} ${target}`),
  },
  {
    what: 'a digit changed',
    code: 'numbers',
    pair: rewritten((_, { year }) => ({ year: String(year + 5) })),
  },
  {
    what: 'digits exchanged',
    code: 'numbers',
    pair: rewritten((sample, { count }) => ({ count: written(sample, exchanged(count)) })),
  },
  { what: 'a number lost', code: 'numbers', pair: rewritten(() => ({ count: '' })) },
  {
    what: 'a decimal sign lost',
    code: 'numbers',
    pair: rewritten((sample, { length }) => ({ length: written(sample, length * 10) })),
  },
  { what: 'a number added', code: 'numbers', pair: extended((text) => `${text} 4711.`) },
  {
    what: 'two numbers change places',
    code: 'numbers',
    // Where languages name things in another order, so do their numbers.
    pair: (sample, index) =>
      ['de', 'es', 'ru'].includes(sample.language)
        ? rewritten((_, { year, count }) => ({ year: written(sample, count), count: String(year) }))(
            sample,
            index,
          )
        : null,
  },
  {
    what: 'the thousands sign of the other language',
    code: 'numbers',
    pair: (sample, index) =>
      ['de', 'es', 'ru'].includes(sample.language)
        ? rewritten((_, { count }) => ({ count: count.toLocaleString('en') }))(sample, index)
        : null,
  },
  {
    what: 'a date in the order of the other language',
    code: 'numbers',
    pair: ({ source, target, language }, index) => {
      const date = `${1 + (index % 5)}/${6 + (index % 7)}/2025`;
      // Where the year comes first, a date that ends with it may be either day.
      return language === 'ja' || language === 'zh' ? null : [`${source} ${date}`, `${target} ${date}`];
    },
  },
  {
    what: 'kilometres become miles',
    code: 'units',
    pair: rewritten(({ language }) => ({
      unit: { de: 'Meilen', es: 'millas', ru: 'миль', ja: 'マイル', ar: 'ميل', zh: '英里' }[language],
    })),
  },
  {
    what: 'words before the text',
    code: 'chatter',
    pair: plain(1, ({ target, language }, index) => `${LEADS[language][index % 2]}${target}`),
  },
  {
    what: 'a note behind the text',
    code: 'chatter',
    pair: plain(1, ({ target, language }, index) => `${target}${NOTES[language][index % 2]}`),
  },
  {
    what: 'a remark in brackets behind the text',
    code: 'chatter',
    pair: plain(80, ({ target }) => `${target} (I kept the tone of the original.)`),
  },
  { what: 'a code fence', code: 'chatter', pair: plain(1, ({ target }) => `\`\`\`\n${target}\n\`\`\``) },
  {
    what: 'quotation marks around the whole',
    code: 'chatter',
    pair: plain(1, ({ target }) => `"${target}"`),
  },
  { what: "the source's text", code: 'echo', pair: plain(40, ({ source }) => source) },
  {
    what: 'a language that looks like it',
    code: 'language',
    pair: ({ source, neighbour, language }) =>
      language === 'zh' || language === 'ja' || lengthOf(neighbour) < 80 ? null : [source, neighbour],
  },
  {
    what: 'words of another script',
    code: 'script',
    pair: plain(1, ({ target, language }) => `${target} ${LEAKED[language]}`),
  },
  {
    what: 'the whole in another script',
    code: 'script',
    pair: ({ source, language }) => {
      const other = otherScript(language, source);
      return other === undefined || lengthOf(source) < 40 ? null : [source, other];
    },
  },
  {
    what: 'the other form of Chinese',
    code: 'script',
    pair: ({ source, language }) => {
      const other = inTraditional.get(source);
      return language === 'zh' && other !== undefined ? [source, other] : null;
    },
  },
  {
    what: 'a meta title that is too long',
    code: 'limit',
    facts: { kind: 'metaTitle' },
    pair: plain(1, ({ target }) => `${target} ${target}`.padEnd(71, 'x')),
  },
  {
    what: 'another word for a term',
    code: 'glossary',
    pair: rewritten(({ language }) => ({
      term: `<a id="1">${{ de: 'Bücherpark', es: 'parque de libros', ru: 'книжный парк', ja: '本の公園', ar: 'منتزه الكتب', zh: '图书公园' }[language]}</a>`,
    })),
  },
  {
    what: 'a name translated',
    code: 'glossary',
    pair: extended((text, { language }) => text.replace('Nordlicht', SENTENCES[language].name)),
  },
];

/** The two digits in the middle, which differ. */
function exchanged(count: number): number {
  const digits = [...String(count)];
  for (let at = digits.length - 1; at > 0; at -= 1) {
    const [one, other] = [digits[at - 1], digits[at]];
    if (one === other || one === undefined || other === undefined || (at === 1 && other === '0')) continue;
    return Number([...digits.slice(0, at - 1), other, one, ...digits.slice(at + 1)].join(''));
  }
  return count + 1;
}

const inRussian = new Map(translated('ru').map(({ source, target }) => [source, target]));
const inChinese = new Map(translated('zh').map(({ source, target }) => [source, target]));
const inTraditional = new Map(translated('zh-Hant').map(({ source, target }) => [source, target]));
const otherScript = (language: Target, source: string) =>
  (language === 'ru' || language === 'ar' ? inChinese : inRussian).get(source);
