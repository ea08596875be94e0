/** The blocks of one part, built from a mended response. */
import { createHash } from 'node:crypto';
import type { Blockquote, Heading, List, Paragraph, RootContent, Table } from 'mdast';
import type { Block } from '../../../document/format/schema.ts';
import { countTextWords } from '../../../document/format/words.ts';
import { runsText, textRun } from '../../../document/inline/runs.ts';
import { fieldTexts, type NewBlock } from '../../../document/markdown/field-text.ts';
import { ListReader } from '../../../document/markdown/list.ts';
import { htmlToParts } from '../../../document/text/html-text.ts';
import { hasReference } from '../../../document/text/note-references.ts';
import type { LinkableArticle } from '../brief.ts';
import { asField, bounded, fewItems, itemsOf, linksIn, MAX_SHOWN, runsOf } from './fields.ts';
import type { Note } from './mendings.ts';
import { mendText, textOf } from './phrasing.ts';

/** Bounds of one part, which no real text reaches. */
const MAX_BLOCKS = 200;
const MAX_ITEMS = 200;
const MAX_ROWS = 100;
const MAX_COLUMNS = 10;
const DEEPEST_HEADING = 6;
/** A line over a rule of dashes reads as a heading, whatever it is. */
const MAX_HEADING_WORDS = 25;
/** Texts with fewer words may repeat. */
const REPEATED_WORDS = 6;

export interface BlockRules {
  /** What the part stands below; its blocks' ids are made from the id. */
  readonly section: { readonly id: string; readonly heading: string; readonly level: number };
  /** Articles that it may link to, by their position. */
  readonly articles: readonly LinkableArticle[];
  /** `repetitionKeys` of earlier parts. */
  readonly earlier: ReadonlySet<string>;
  readonly addresses: ReadonlySet<string>;
  /** Notes that it may refer to, by their numbers; none by default. */
  readonly notes?: number;
}

/** A block id derived from the section's: stable when the part is written again, and unique in the article. */
export const blockId = (sectionId: string, number: number): string =>
  `${createHash('sha256').update(sectionId).digest('hex').slice(0, 32)}-${number}`;

/** The heading above a section or the questions. */
export const headingAbove = (sectionId: string, text: string, level: number): Block => ({
  id: blockId(sectionId, 0),
  type: 'heading',
  level,
  text,
});

/** A heading for comparison: lower-case words without punctuation. */
export const bare = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');

/** Two texts with the same key are repetitions; null for short texts, which may repeat. */
function repetitionKey(text: string): string | null {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const isLong = words.length >= REPEATED_WORDS || words.join('').length >= REPEATED_WORDS * 5;
  return isLong ? words.join(' ') : null;
}

const keyOf = (block: NewBlock): string | null => {
  if (block.type === 'paragraph' || block.type === 'quote') return repetitionKey(block.text);
  return block.type === 'list' ? repetitionKey(block.items.join(' ')) : null;
};

/** The keys of texts that must not occur twice. */
export const repetitionKeys = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => keyOf(block) ?? []);

/** A dash and a name: the source of a quote. */
const ATTRIBUTION = /^(?:—|―|–|--)\s*(\S[^\n]{0,300})$/u;
const CODE_LANGUAGE = /^[\w+#.-]{1,40}$/;

/** Builds blocks from nodes whose inline content is mended. Ids are numbered from 1: 0 is the section's heading. */
export class BlockBuilder {
  private readonly blocks: NewBlock[] = [];
  private readonly rules: BlockRules;
  private readonly note: Note;
  private readonly seen: Set<string>;
  private readonly headings = new Set<string>();

  constructor(rules: BlockRules, note: Note) {
    this.rules = rules;
    this.note = note;
    this.seen = new Set(rules.earlier);
  }

  /** The blocks, with headings below the section's and text below each heading. */
  finish(): Block[] {
    const kept = this.withText(this.blocks).slice(0, MAX_BLOCKS);
    if (kept.at(-1)?.type === 'heading') kept.pop();
    const levels = this.levels(kept);
    return kept.map((block, index) => ({
      ...block,
      ...(block.type === 'heading' ? { level: levels[index] ?? block.level } : {}),
      id: blockId(this.rules.section.id, index + 1),
    }));
  }

  read(node: RootContent): void {
    switch (node.type) {
      case 'heading':
        this.heading(node);
        return;
      case 'paragraph':
        this.paragraph(node);
        return;
      case 'list':
        this.list(node);
        return;
      case 'blockquote':
        this.quote(node);
        return;
      case 'code':
        this.code(node.value, node.lang ?? '');
        return;
      case 'table':
        this.table(node);
        return;
      case 'thematicBreak':
        this.note('rule');
        return;
      case 'html':
        this.note('html');
        for (const part of htmlToParts(node.value)) this.lines(typeof part === 'string' ? part : part.alt);
        return;
      case 'definition':
        this.note('link');
        return;
      default:
        return;
    }
  }

  private heading(node: Heading): void {
    const runs = runsOf(node.children);
    const text = runsText(runs).replace(/\s+/g, ' ').trim();
    if (text === '' || bare(text) === bare(this.rules.section.heading)) {
      this.note('heading');
    } else if (countTextWords(text) > MAX_HEADING_WORDS || bare(text) === '') {
      this.note('heading');
      this.push({ type: 'paragraph', ...asField(runs) });
    } else if (this.headings.has(bare(text))) {
      this.note('repeated');
    } else {
      this.headings.add(bare(text));
      // Headings are plain text: models tend to make them bold.
      this.blocks.push({ type: 'heading', level: node.depth, text });
    }
  }

  private paragraph({ children }: Paragraph): void {
    const runs = runsOf(children);
    const links = linksIn(runs, this.rules.articles);
    const isMarked = runs.some(
      ({ kind, strong, emphasis, link }) => link === null && (kind === 'code' || strong || emphasis),
    );
    const isCited = (this.rules.notes ?? 0) > 0 && hasReference(runsText(runs));
    if (links.length === 0 || isMarked || isCited) {
      // A link to an article stands beside no mark and no citation: elsewhere its words stay.
      if (links.length > 0) this.note('link', links.length);
      this.push({ type: 'paragraph', ...asField(runs.map((run) => ({ ...run, link: null }))) });
      return;
    }
    // A block with links to articles is plain text.
    const plain = runsText(bounded(runs));
    const text = mendText(plain, this.rules.addresses, this.note);
    this.push({ type: 'paragraph', text, ...(text === plain ? { links } : {}) });
  }

  /** One paragraph per line. */
  private lines(text: string): void {
    for (const line of text.split('\n')) {
      const shown = mendText(line.replace(/\s+/g, ' ').trim(), this.rules.addresses, this.note);
      if (shown !== '') this.push({ type: 'paragraph', text: shown.slice(0, MAX_SHOWN).toWellFormed() });
    }
  }

  private list(list: List): void {
    for (const part of new ListReader(new Map()).read(list)) {
      if (part.type === 'block') this.read(part.node);
      else if (part.type === 'list' && part.block.type === 'list') {
        const left = { items: MAX_ITEMS };
        const shown = fewItems(part.block, left);
        if (left.items < 0) this.note('shape');
        if (shown !== null) this.push({ ...part.block, ...shown });
      }
    }
  }

  /** Paragraphs with a source at their end are a quote, others paragraphs; what else is in it stands by itself. */
  private quote({ children }: Blockquote): void {
    const last = children.at(-1);
    const source =
      children.length > 1 && last?.type === 'paragraph' && children.every(({ type }) => type === 'paragraph')
        ? ATTRIBUTION.exec(textOf([last]).trim())?.[1]
        : undefined;
    if (source === undefined) {
      this.note('quote');
      for (const child of children) this.read(child);
      return;
    }
    const runs = children.slice(0, -1).flatMap((child, index) => {
      const own = child.type === 'paragraph' ? runsOf(child.children) : [];
      return index === 0 ? own : [textRun('\n\n'), ...own];
    });
    this.push({ type: 'quote', ...asField(runs), attribution: source.trim() });
  }

  private code(value: string, language: string): void {
    const text = mendText(value, this.rules.addresses, this.note, true);
    if (text.trim() === '') return;
    this.blocks.push({ type: 'code', text, ...(CODE_LANGUAGE.test(language) ? { language } : {}) });
  }

  private table({ children, align }: Table): void {
    const columns = Math.min(children[0]?.children.length ?? 0, MAX_COLUMNS);
    const rows = children.slice(0, MAX_ROWS + 1);
    if (rows.length < children.length || (children[0]?.children.length ?? 0) > columns) this.note('shape');
    if (columns === 0 || rows.length < 2) {
      for (const row of rows) this.lines(row.children.map((cell) => textOf([cell])).join(' '));
      return;
    }
    const cells = rows.flatMap((row) =>
      Array.from({ length: columns }, (_, column) => bounded(runsOf(row.children[column]?.children ?? []))),
    );
    const { texts, ...format } = fieldTexts(cells);
    const body = rows.slice(1).map((_, index) => texts.slice((index + 1) * columns, (index + 2) * columns));
    const sides = Array.from({ length: columns }, (_, column) => align?.[column] ?? null);
    const aligned = sides.some((side) => side !== null) ? { align: sides } : {};
    this.blocks.push({ type: 'table', header: texts.slice(0, columns), rows: body, ...aligned, ...format });
  }

  /** Adds a block, unless it has no words or stands in the article already. */
  private push(block: NewBlock): void {
    const key = keyOf(block);
    if (key !== null && this.seen.has(key)) {
      this.note('repeated');
      return;
    }
    if (key !== null) this.seen.add(key);
    const texts = block.type === 'list' ? itemsOf(block) : 'text' in block ? [block.text] : [];
    if (texts.some((text) => /[\p{L}\p{N}]/u.test(text))) this.blocks.push(block);
  }

  /** Without headings that have no text below them. One with headings below it stays. */
  private withText(blocks: readonly NewBlock[]): NewBlock[] {
    return blocks.filter((block, index) => {
      if (block.type !== 'heading') return true;
      const next = blocks[index + 1];
      if (next !== undefined && (next.type !== 'heading' || next.level > block.level)) return true;
      this.note('heading');
      return false;
    });
  }

  /** Levels below the section's, none of them left out. */
  private levels(blocks: readonly NewBlock[]): (number | undefined)[] {
    const first = this.rules.section.level + 1;
    const written = blocks.flatMap((block) => (block.type === 'heading' ? [block.level] : []));
    const shift = first - Math.min(...written);
    let before = this.rules.section.level;
    return blocks.map((block) => {
      if (block.type !== 'heading') return undefined;
      const level = Math.min(Math.max(block.level + shift, first), before + 1, DEEPEST_HEADING);
      if (block.level < first) this.note('heading');
      before = level;
      return level;
    });
  }
}
