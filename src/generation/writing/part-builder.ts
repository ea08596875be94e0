/** Converts a model's blocks to blocks of a document, and collects their defects. */
import { createHash } from 'node:crypto';
import { type ArticleLink, type Block, MAX_LINK_TEXT, MAX_LINKS } from '../../document/format/schema.ts';
import { hasFormatting } from '../../document/inline/runs.ts';
import type { Defect, LinkableArticle } from './brief.ts';
import type { OutputBlock } from './model-output.ts';
import { about, type ReadText, readParagraphs, readText, type TextRules, toField } from './text.ts';

/** Bounds of one part, which no real output reaches. */
const MAX_BLOCKS = 200;
const MAX_ITEMS = 100;
const MAX_ROWS = 100;
const MAX_COLUMNS = 10;
const DEEPEST_HEADING = 6;
const MAX_DEFECTS = 10;
/** Texts with fewer words may repeat. */
const REPEATED_WORDS = 6;

/** A bullet or number that a model wrote before an item. */
const BULLET = /^\s{0,3}(?:[-*+•–]|\d{1,3}[.)])\s+/;

/** Rules that a part is checked against. */
export interface PartRules extends TextRules {
  /** The section it belongs to. */
  readonly section: { readonly id: string; readonly heading: string; readonly level: number };
  readonly articles: readonly LinkableArticle[];
  /** `repetitionKey` of the texts of earlier parts. */
  readonly earlier: ReadonlySet<string>;
}

/** A block id derived from the section's: stable when the part is written again, and unique in the article. */
export const blockId = (sectionId: string, number: number): string =>
  `${createHash('sha256').update(sectionId).digest('hex').slice(0, 32)}-${number}`;

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

/** `repetitionKey` of the texts that must not occur twice. */
export const repetitionKeys = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => {
    if (block.type === 'paragraph' || block.type === 'quote') return repetitionKey(block.text) ?? [];
    return block.type === 'list' ? (repetitionKey(block.items.join(' ')) ?? []) : [];
  });

/** A heading for comparison: lower-case words without punctuation. */
export const bare = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');

/** Builds the blocks of one part. Ids are numbered from 1: 0 is the section's heading. */
export class PartBuilder {
  readonly defects: Defect[] = [];
  private readonly blocks: Block[] = [];
  private readonly rules: PartRules;
  private readonly seen: Set<string>;
  private readonly headings = new Set<string>();

  constructor(rules: PartRules) {
    this.rules = rules;
    this.seen = new Set(rules.earlier);
  }

  /** Returns the blocks; they are valid when there are no defects. */
  finish(): readonly Block[] {
    if (this.blocks.length > MAX_BLOCKS)
      this.add({ code: 'shape', problem: `There are more than ${MAX_BLOCKS} blocks.` });
    const last = this.blocks.at(-1);
    if (last === undefined) this.add({ code: 'empty', problem: 'The section has no text.' });
    else if (last.type === 'heading')
      this.add(about('empty', 'There is no text below the last heading.', last.text));
    for (const [index, block] of this.blocks.entries()) {
      if (block.type !== 'paragraph' || isEnded(block.text)) continue;
      if (block.text.trimEnd().endsWith(':') && index < this.blocks.length - 1) continue;
      this.add(about('truncated', 'A paragraph ends in the middle of a sentence.', block.text.slice(-60)));
    }
    return this.blocks;
  }

  append(block: OutputBlock): void {
    switch (block.type) {
      case 'heading':
        this.heading(block.text, block.level);
        return;
      case 'paragraph':
        this.paragraph(block.text, block.links);
        return;
      case 'quote': {
        const text = this.text(block.text.replace(/^[ \t]*>\s?/gm, ''));
        if (text !== null && this.isNew(text.plain)) this.push({ type: 'quote', ...this.field(text) });
        return;
      }
      case 'list':
        this.list(block.items, block.ordered);
        return;
      case 'table':
        this.table(block.header, block.rows);
        return;
    }
  }

  /** Skips a heading that repeats the section's own; one of the section's level or above is a defect. */
  heading(raw: string, level: number): void {
    const { section } = this.rules;
    const text = this.text(raw.replace(/^\s*#{1,6}\s+/, ''));
    if (text === null || bare(text.plain) === bare(section.heading)) return;
    if (level <= section.level || level > DEEPEST_HEADING) {
      const problem = `A heading of level ${level} is not allowed here, only of level ${section.level + 1}.`;
      this.add(about('heading', problem, text.plain));
      return;
    }
    if (this.blocks.at(-1)?.type === 'heading') {
      this.add(about('empty', 'There is no text between two headings.', text.plain));
      return;
    }
    if (this.headings.has(bare(text.plain))) {
      this.add(about('repeated', 'A heading occurs twice in this part.', text.plain));
      return;
    }
    this.headings.add(bare(text.plain));
    // Headings are plain text: models tend to make them bold.
    this.push({ type: 'heading', level: Math.min(level, section.level + 1), text: text.plain });
  }

  /** Adds a block for each paragraph of the text, with the links whose words it contains. */
  paragraph(raw: string, links: readonly { readonly text: string; readonly article: number }[] = []): void {
    const { texts, defects } = readParagraphs(this.withoutOwnHeading(raw), this.rules);
    for (const defect of defects) this.add(defect);
    const wanted = this.links(links);
    for (const text of texts) {
      if (!this.isNew(text.plain)) continue;
      const own = wanted.filter((link) => text.plain.includes(link.text)).slice(0, MAX_LINKS);
      const linked = own.length > 0 ? { links: own } : {};
      this.push({ type: 'paragraph', ...this.field(text, own.length > 0), ...linked });
    }
  }

  private list(items: readonly string[], ordered: boolean): void {
    if (items.length > MAX_ITEMS) {
      this.add({ code: 'shape', problem: `A list has more than ${MAX_ITEMS} items.` });
      return;
    }
    const bulleted = items.length > 0 && items.every((item) => BULLET.test(item));
    const texts = this.texts(bulleted ? items.map((item) => item.replace(BULLET, '')) : items);
    if (texts === null) return;
    if (texts.length === 0) {
      this.add({ code: 'empty', problem: 'A list has no items.' });
      return;
    }
    if (!this.isNew(texts.map(({ plain }) => plain).join(' '))) return;
    const { texts: fields, format } = this.fields(texts);
    this.push({ type: 'list', ordered, items: fields, ...format });
  }

  private table(header: readonly string[], rows: readonly (readonly string[])[]): void {
    const columns = header.length;
    if (columns < 1 || columns > MAX_COLUMNS || rows.length < 1 || rows.length > MAX_ROWS) {
      this.add({
        code: 'shape',
        problem: `A table has 1 to ${MAX_COLUMNS} columns and 1 to ${MAX_ROWS} rows.`,
      });
      return;
    }
    if (rows.some((row) => row.length !== columns)) {
      this.add({
        code: 'shape',
        problem: `A row of a table does not have the ${columns} cells of its header.`,
      });
      return;
    }
    const texts = this.texts([...header, ...rows.flat()], true);
    if (texts === null) return;
    const { texts: cells, format } = this.fields(texts);
    const body = rows.map((_, row) => cells.slice((row + 1) * columns, (row + 2) * columns));
    this.push({ type: 'table', header: cells.slice(0, columns), rows: body, ...format });
  }

  private links(output: readonly { readonly text: string; readonly article: number }[]): ArticleLink[] {
    return output.flatMap(({ text, article }) => {
      const target = this.rules.articles[article - 1];
      if (target !== undefined) {
        return text.trim() === '' || [...text].length > MAX_LINK_TEXT ? [] : [{ text, articleId: target.id }];
      }
      this.add(about('link', 'A link names a number that no listed article has.', String(article)));
      return [];
    });
  }

  /** Removes the section's own heading from the beginning of the text. */
  private withoutOwnHeading(raw: string): string {
    const [, title] = /^\s*#{1,6}\s+([^\n]*)/.exec(raw) ?? [];
    if (title === undefined || bare(title) !== bare(this.rules.section.heading)) return raw;
    return raw.replace(/^\s*#{1,6}\s+[^\n]*\n?/, '');
  }

  private text(raw: string): ReadText | null {
    const { text, defects } = readText(raw, this.rules);
    for (const defect of defects) this.add(defect);
    if (text !== null && text.plain.trim() === '') this.add({ code: 'empty', problem: 'A text is empty.' });
    return text;
  }

  /** Reads all texts, or returns null when one is unusable. @param empties keeps empty texts, as table cells need */
  private texts(raws: readonly string[], empties = false): ReadText[] | null {
    const texts: ReadText[] = [];
    const before = this.defects.length;
    for (const raw of raws) {
      const { text, defects } = readText(raw, this.rules);
      for (const defect of defects) this.add(defect);
      if (text !== null && (empties || text.plain.trim() !== '')) texts.push(text);
    }
    return this.defects.length > before ? null : texts;
  }

  /** The format applies to the whole block: if one text has Markdown, the plain ones are escaped. */
  private fields(texts: readonly ReadText[]): { texts: string[]; format: { format?: 'markdown' } } {
    const formatted = texts.some(({ runs }) => hasFormatting(runs));
    if (!formatted) return { texts: texts.map(({ plain }) => plain), format: {} };
    return { texts: texts.map((text) => toField(text, 'markdown').text), format: { format: 'markdown' } };
  }

  private field(text: ReadText, linked = false): { text: string; format?: 'markdown' } {
    const plain = linked || !hasFormatting(text.runs);
    return toField(text, plain ? 'plain' : 'markdown');
  }

  private isNew(text: string): boolean {
    const key = repetitionKey(text);
    if (key === null) return true;
    if (this.seen.has(key)) {
      this.add(about('repeated', 'A paragraph repeats one that is already in the article.', text));
      return false;
    }
    this.seen.add(key);
    return true;
  }

  private push(block: WithoutId): void {
    this.blocks.push({ ...block, id: blockId(this.rules.section.id, this.blocks.length + 1) });
  }

  private add(defect: Defect): void {
    if (this.defects.length < MAX_DEFECTS) this.defects.push(defect);
  }
}

type WithoutId = Block extends infer Each ? (Each extends Block ? Omit<Each, 'id'> : never) : never;

/** Scripts whose sentences end without punctuation. */
const UNMARKED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;
/** Punctuation that ends a sentence, with quotes, brackets and emphasis after it. */
const ENDED = /[\p{Extended_Pictographic}.!?…。！？．؟۔।॥։።፧‽;)\]}"'“”‘’»«›‹」』）】`]["'“”‘’»)*_`\]]*$/u;

/** Characters at the end of a text that are tested. */
const TAIL = 100;

const isEnded = (text: string): boolean => UNMARKED.test(text) || ENDED.test(text.slice(-TAIL));
