/** References of a text to notes, and what they become in an article (contract.md N24 and N25). */
import type { Citations } from '../../db/tables.ts';
import type { Block } from '../../document/format/schema.ts';
import { collectTexts, type FieldKind, mapTexts } from '../../document/format/walk.ts';
import { parseInline, parsingOnce, toPlainText } from '../../document/inline/parse.ts';
import { type InlineRun, normalizeRuns, runsText, textRun } from '../../document/inline/runs.ts';
import { fieldTexts } from '../../document/markdown/field-text.ts';
import { folded } from '../../document/text/characters.ts';
import { atReferences, hasReference } from '../../document/text/note-references.ts';
import { blockId, headingAbove } from './markdown/blocks.ts';

/** Where a note is from. */
export interface CitedSource {
  readonly url: string;
  readonly title: string;
  readonly site: string;
}

/** Texts that may cite. */
const CITING: ReadonlySet<FieldKind> = new Set(['paragraph', 'listItem', 'tableCell']);

type Cite = (numbers: readonly number[], space: string, run: InlineRun) => InlineRun[];

/** The runs with each reference as `cite` has it. Code and what is linked has none. */
const citedRuns = (runs: readonly InlineRun[], cite: Cite): InlineRun[] =>
  runs.flatMap((run) =>
    run.kind === 'code' || run.link !== null
      ? [run]
      : atReferences(run.text).flatMap((piece) =>
          'text' in piece ? [{ ...run, text: piece.text }] : cite(piece.numbers, piece.space, run),
        ),
  );

/** The block with its references as `cite` has them; in headings, quotes and captions there are none. */
function mapReferences(block: Block, cite: Cite): Block {
  const document = { version: 1 as const, blocks: [block] };
  const fields = collectTexts(document);
  if (!fields.some(({ text, markdown }) => hasReference(markdown ? toPlainText(text) : text))) return block;
  const written = fields.map(({ text, markdown }) => (markdown ? parseInline(text) : [textRun(text)]));
  const changed = written.map((runs, index) =>
    normalizeRuns(citedRuns(runs, CITING.has(fields[index]?.kind ?? 'heading') ? cite : () => [])),
  );
  if (fields.every(({ kind }) => CITING.has(kind))) {
    const { texts: shown, ...format } = fieldTexts(changed);
    const { links, format: _, ...mapped } = rewritten(block, shown);
    // Links to articles stand in plain text only, and only where nothing is cited.
    return { ...mapped, ...format, ...(links === undefined || 'format' in format ? {} : { links }) } as Block;
  }
  const shown = fields.map(({ markdown }, index) => {
    const runs = changed[index] ?? [];
    return markdown ? (fieldTexts([runs]).texts[0] ?? '') : runsText(runs);
  });
  return rewritten(block, shown) as Block;
}

type AnyBlock = Block & { readonly links?: unknown; readonly format?: unknown };

/** The block with its texts, in the order in which they are collected. */
function rewritten(block: Block, shown: readonly string[]): AnyBlock {
  let at = -1;
  const { blocks } = mapTexts({ version: 1, blocks: [block] }, ({ text, links }) => {
    at += 1;
    return { text: shown[at] ?? text, ...(links.length > 0 ? { links: [...links] } : {}) };
  });
  return (blocks[0] ?? block) as AnyBlock;
}

/** The blocks without references to notes that are not there (contract.md N24). @param notes how many there are */
export function withKnownReferences(blocks: readonly Block[], notes: number): readonly Block[] {
  const known: Cite = (numbers, space, run) => {
    const left = [...new Set(numbers)].filter((number) => number >= 1 && number <= notes);
    return left.length === 0 ? [] : [{ ...run, text: `${space}[${left.join(', ')}]` }];
  };
  return parsingOnce(() => blocks.map((block) => mapReferences(block, known)));
}

/** The parts of an article with their citations, and what they cite. */
export interface CitedParts {
  readonly parts: readonly (readonly Block[])[];
  /** In the order in which the article cites them: their numbers are their places, from 1. */
  readonly sources: readonly CitedSource[];
}

/**
 * Makes citations of references: links to the sources, or their numbers, or nothing.
 * @param notes where each note is from, by their numbers from 1
 */
export function cite(
  parts: readonly (readonly Block[])[],
  notes: readonly CitedSource[],
  mode: Citations,
): CitedParts {
  const sources: CitedSource[] = [];
  const numberOf = (note: number): number | null => {
    const source = notes[note - 1];
    if (source === undefined) return null;
    const at = sources.findIndex(({ url }) => url === source.url);
    return at >= 0 ? at + 1 : sources.push(source);
  };
  const toCitation: Cite = (numbers, space, run) => {
    if (mode === 'none') return [];
    const cited = [...new Set(numbers.flatMap((number) => numberOf(number) ?? []))];
    return cited.flatMap((number, index): InlineRun[] => {
      const url = sources[number - 1]?.url ?? '';
      const link = mode === 'links' ? { url, title: null } : null;
      return [
        { ...run, text: index === 0 ? space : ' ' },
        { ...run, text: `[${number}]`, link },
      ];
    });
  };
  const cited = parsingOnce(() =>
    parts.map((blocks) => blocks.map((block) => mapReferences(block, toCitation))),
  );
  return { parts: cited, sources };
}

/** Never a section's id: those are trimmed. */
const SOURCES_ID = ' sources';

const SOURCE_BLOCKS: ReadonlySet<string> = new Set([blockId(SOURCES_ID, 0), blockId(SOURCES_ID, 1)]);

/** The blocks without the list of sources: it counts in no length and no price (contract.md N26). */
export const withoutSourceList = (blocks: readonly Block[]): Block[] =>
  blocks.filter(({ id }) => !SOURCE_BLOCKS.has(id));

/** The list of an article's sources below its heading; nothing without any. */
export function sourceList(sources: readonly CitedSource[], language: string): Block[] {
  if (sources.length === 0) return [];
  const items = sources.map(({ url, title, site }): InlineRun[] => [
    { ...textRun(title), link: { url, title: null } },
    ...(folded(title).includes(folded(site)) ? [] : [textRun(`, ${site}`)]),
  ]);
  const { texts, ...format } = fieldTexts(items.map(normalizeRuns));
  return [
    headingAbove(SOURCES_ID, sourcesHeading(language), 2),
    { id: blockId(SOURCES_ID, 1), type: 'list', ordered: true, items: texts, ...format },
  ];
}

const ENGLISH = 'Sources';
/** The heading by language. */
const HEADINGS: Readonly<Record<string, string>> = {
  ar: 'المصادر',
  bg: 'Източници',
  ca: 'Fonts',
  cs: 'Zdroje',
  da: 'Kilder',
  de: 'Quellen',
  el: 'Πηγές',
  es: 'Fuentes',
  et: 'Allikad',
  fa: 'منابع',
  fi: 'Lähteet',
  fr: 'Sources',
  he: 'מקורות',
  hi: 'स्रोत',
  hr: 'Izvori',
  hu: 'Források',
  id: 'Sumber',
  it: 'Fonti',
  ja: '出典',
  ko: '출처',
  lt: 'Šaltiniai',
  lv: 'Avoti',
  ms: 'Sumber',
  nb: 'Kilder',
  nl: 'Bronnen',
  no: 'Kilder',
  pl: 'Źródła',
  pt: 'Fontes',
  ro: 'Surse',
  ru: 'Источники',
  sk: 'Zdroje',
  sl: 'Viri',
  sr: 'Извори',
  'sr-Latn': 'Izvori',
  sv: 'Källor',
  th: 'แหล่งที่มา',
  tr: 'Kaynaklar',
  uk: 'Джерела',
  vi: 'Nguồn',
  zh: '来源',
  'zh-Hant': '來源',
};

/** The heading of the sources in this language, else in English. */
export function sourcesHeading(language: string): string {
  const locale = new Intl.Locale(language).maximize();
  return HEADINGS[`${locale.language}-${locale.script}`] ?? HEADINGS[locale.language] ?? ENGLISH;
}
