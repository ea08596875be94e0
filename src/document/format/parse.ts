/** Validates unknown values against the document format and locates each issue. */
import { z } from 'zod';
import { parseText, weighInline } from '../inline/parse.ts';
import { withinBounds } from '../text/characters.ts';
import { MAX_DOCUMENT_MARKS } from '../text/marks.ts';
import { MAX_DOCUMENT_IMAGES, MAX_DOCUMENT_LINKS } from './limits.ts';
import { hasArticleLinks } from './links.ts';
import {
  type Block,
  blockSchema,
  type DocumentJson,
  MAX_ALT_TEXT,
  MAX_BLOCKS,
  MAX_CODE,
  MAX_TEXT,
  type SubList,
} from './schema.ts';

/** One issue: where (RFC 6901 pointer into the document), in which block, and what is wrong. */
export interface DocumentIssue {
  readonly pointer: string;
  readonly blockId: string | null;
  readonly message: string;
}

/** The most issues that are reported; further ones are counted. */
const MAX_DOCUMENT_ISSUES = 50;

/** The valid document, or the first issues and the number of others. */
export type ParsedDocument =
  | { readonly ok: true; readonly document: DocumentJson }
  | { readonly ok: false; readonly issues: readonly DocumentIssue[]; readonly omitted: number };

/** Bounds on the lengths of texts and the contents of a document. */
export interface TextBounds {
  readonly text: number;
  readonly altText: number;
  readonly code: number;
  /** Markdown marks in all texts together; null skips the check. */
  readonly marks: number | null;
  /** Links to articles in all blocks together. */
  readonly links: number;
  readonly images: number;
}

/** Bounds for documents from clients. */
const CLIENT_BOUNDS: TextBounds = {
  text: MAX_TEXT,
  altText: MAX_ALT_TEXT,
  code: MAX_CODE,
  marks: MAX_DOCUMENT_MARKS,
  links: MAX_DOCUMENT_LINKS,
  images: MAX_DOCUMENT_IMAGES,
};
/**
 * Bounds for stored documents and their translations, which may exceed the bounds for clients. Translated texts are
 * bounded one by one, and the marks they add are escaped.
 */
export const STORED_BOUNDS: TextBounds = {
  text: Number.POSITIVE_INFINITY,
  altText: Number.POSITIVE_INFINITY,
  code: Number.POSITIVE_INFINITY,
  marks: null,
  links: Number.POSITIVE_INFINITY,
  images: Number.POSITIVE_INFINITY,
};

const frame = z.object({
  version: z.literal(1),
  blocks: z.array(z.unknown()).max(MAX_BLOCKS, { error: `at most ${MAX_BLOCKS} blocks are allowed` }),
});

/**
 * Validates an unknown value against the document format. Never throws. A Markdown text is parsed only if its marks are
 * few enough for linear time.
 */
export function parseDocument(value: unknown, bounds: TextBounds = CLIENT_BOUNDS): ParsedDocument {
  const check = new Check(bounds);
  const outer = check.against(frame, value, []);
  const blocks = outer?.blocks.flatMap((block, index) => check.block(block, index) ?? []) ?? [];
  return check.count === 0
    ? { ok: true, document: { version: 1, blocks } }
    : { ok: false, issues: check.issues, omitted: check.count - check.issues.length };
}

type Path = readonly PropertyKey[];

/** A text of a block, with its path and maximum length. */
interface Placed {
  readonly path: Path;
  readonly text: string;
  readonly markdown: boolean;
  readonly max: number;
}

class Check {
  readonly issues: DocumentIssue[] = [];
  count = 0;
  private readonly bounds: TextBounds;
  private readonly ids = new Set<string>();
  private marks = 0;
  private links = 0;
  private images = 0;

  constructor(bounds: TextBounds) {
    this.bounds = bounds;
  }

  /** The value parsed by the schema; null when invalid. */
  against<Schema extends z.ZodType>(schema: Schema, value: unknown, path: Path): z.output<Schema> | null {
    const result = schema._zod.run({ value, issues: [] }, { async: false });
    if (result instanceof Promise) throw new z.core.$ZodAsyncError();
    if (result.issues.length === 0) return dropAbsent(result.value) as z.output<Schema>;
    for (const raw of result.issues) {
      this.add(
        () => {
          const issue = z.core.util.finalizeIssue(raw, undefined, z.config());
          return { path: [...path, ...issue.path], message: issue.message };
        },
        path.length > 0 ? value : null,
      );
    }
    return null;
  }

  block(value: unknown, index: number): Block | null {
    const path = ['blocks', index];
    const block = this.against(blockSchema, value, path);
    if (block === null) return null;
    if (this.ids.has(block.id)) {
      const message = 'is used by another block: block ids are unique in a document';
      this.add(() => ({ path: [...path, 'id'], message }), block);
    }
    this.ids.add(block.id);
    if (hasArticleLinks(block)) {
      this.links += block.links.length;
      if (this.links > this.bounds.links) {
        const message = `has, together with the blocks before it, more than ${this.bounds.links} links to articles`;
        this.add(() => ({ path: [...path, 'links'], message }), block);
      }
    }
    if (block.type === 'image') {
      this.images += 1;
      if (this.images > this.bounds.images) {
        const message = `is, together with the blocks before it, more than ${this.bounds.images} images`;
        this.add(() => ({ path, message }), block);
      }
    }
    for (const { path: inner, ...placed } of placedTexts(block, this.bounds)) {
      const message = this.text(placed);
      if (message !== null) this.add(() => ({ path: [...path, ...inner], message }), block);
    }
    return block;
  }

  /** What is wrong with the text; null when nothing is. */
  private text({ text, markdown, max }: Omit<Placed, 'path'>): string | null {
    if (!withinBounds(text, 0, max)) return `must have at most ${max} characters`;
    if (!markdown) return null;
    if (this.bounds.marks === null) return null;
    const { marks, problem } = weighInline(text);
    if (problem !== null) return problem;
    this.marks += marks;
    if (this.marks > this.bounds.marks) {
      return `has, together with the texts before it, more than ${this.bounds.marks} Markdown marks`;
    }
    // Beyond the reported issues, texts are not parsed.
    return this.count < MAX_DOCUMENT_ISSUES ? (parseText(text).problems[0] ?? null) : null;
  }

  private add(describe: () => { path: Path; message: string }, block: unknown): void {
    this.count += 1;
    if (this.issues.length >= MAX_DOCUMENT_ISSUES) return;
    const { path, message } = describe();
    this.issues.push({ pointer: pointerTo(path), blockId: idOf(block), message });
  }
}

function* placedTexts(block: Block, bounds: TextBounds): Generator<Placed> {
  const markdown = 'format' in block && block.format === 'markdown';
  const max = bounds.text;
  switch (block.type) {
    case 'heading':
    case 'paragraph':
    case 'quote':
      yield { path: ['text'], text: block.text, markdown, max };
      if (block.type === 'quote' && block.attribution !== undefined) {
        yield { path: ['attribution'], text: block.attribution, markdown: false, max };
      }
      return;
    case 'list':
      yield* listTexts(block, [], markdown, max);
      return;
    case 'table':
      for (const [column, text] of block.header.entries()) {
        yield { path: ['header', column], text, markdown, max };
      }
      for (const [row, cells] of block.rows.entries()) {
        for (const [column, text] of cells.entries()) {
          yield { path: ['rows', row, column], text, markdown, max };
        }
      }
      return;
    case 'image':
      yield { path: ['altText'], text: block.altText, markdown: false, max: bounds.altText };
      if (block.caption !== undefined) {
        yield { path: ['caption'], text: block.caption, markdown: false, max };
      }
      return;
    case 'code':
      yield { path: ['text'], text: block.text, markdown: false, max: bounds.code };
      return;
    case 'divider':
  }
}

function* listTexts(list: SubList, path: Path, markdown: boolean, max: number): Generator<Placed> {
  for (const [index, text] of list.items.entries()) {
    yield { path: [...path, 'items', index], text, markdown, max };
  }
  for (const [index, child] of (list.children ?? []).entries()) {
    if (child !== null) yield* listTexts(child, [...path, 'children', index], markdown, max);
  }
}

const pointerTo = (path: Path): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Removes optional fields that are `undefined`, so that equal documents are deeply equal. */
function dropAbsent<T>(value: T): T {
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') dropAbsent(item);
  } else if (typeof value === 'object' && value !== null) {
    for (const key in value) {
      const field = value[key];
      if (field === undefined) Reflect.deleteProperty(value, key);
      else if (typeof field === 'object') dropAbsent(field);
    }
  }
  return value;
}

function idOf(block: unknown): string | null {
  const id: unknown = typeof block === 'object' && block !== null ? Reflect.get(block, 'id') : undefined;
  return typeof id === 'string' ? id : null;
}
