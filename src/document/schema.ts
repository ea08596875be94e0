/** The canonical article body: every rule and bound of interface.md, "Document format (documentJson)", as one schema. */
import { z } from 'zod';
import { inlineProblems } from './inline.ts';

/** Links one block may hold. */
export const MAX_LINKS = 20;
/** Levels of nested lists, the outermost included. */
export const MAX_LIST_LEVELS = 4;
/** Characters the text of a `links` entry may have. */
export const MAX_LINK_TEXT = 200;
/** Characters a code block's language may have. */
export const MAX_CODE_LANGUAGE = 40;

/** Characters as people count them for limits: Unicode code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** A string that Postgres can store: no NUL character, no lone surrogate. */
function storable(): z.ZodString {
  return z
    .string()
    .refine((text) => !text.includes('\0'), { error: 'contains a NUL character' })
    .refine((text) => text.isWellFormed(), { error: 'contains a lone surrogate' });
}

function bounded(min: number, max: number): z.ZodString {
  return storable()
    .refine((text) => withinBounds(text, min, max), { error: `must have ${min} to ${max} characters` })
    .meta(min > 0 ? { minLength: min, maxLength: max } : { maxLength: max });
}

function withinBounds(text: string, min: number, max: number): boolean {
  // A code point is one or two code units, so very long strings need no counting.
  if (text.length > max * 2) return false;
  const count = codePoints(text);
  return count >= min && count <= max;
}

/** Null for an optional field means absent. */
function optional<T extends z.ZodType>(schema: T) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
}

const uuid = () => z.guid().toLowerCase().meta({ format: 'uuid' });
const format = () => optional(z.literal('markdown'));
const blockId = () => bounded(1, 64);

const link = z.object({
  text: bounded(1, MAX_LINK_TEXT),
  articleId: uuid(),
});
const links = () =>
  optional(z.array(link).max(MAX_LINKS, { error: `at most ${MAX_LINKS} links are allowed in a block` }));

type Context = z.core.$RefinementCtx;
type Path = (string | number)[];

function checkInline(markdown: string, path: Path, context: Context): void {
  for (const message of inlineProblems(markdown)) {
    context.addIssue({ code: 'custom', path, message, input: markdown });
  }
}

function checkText(block: { text: string; format?: 'markdown' | undefined }, context: Context): void {
  if (block.format === 'markdown') checkInline(block.text, ['text'], context);
}

const heading = z
  .object({
    id: blockId(),
    type: z.literal('heading'),
    level: z.int().min(1).max(6),
    text: storable(),
    format: format(),
  })
  .superRefine(checkText);

const paragraph = z
  .object({
    id: blockId(),
    type: z.literal('paragraph'),
    text: storable(),
    links: links(),
    format: format(),
  })
  .superRefine(checkText);

const quote = z
  .object({
    id: blockId(),
    type: z.literal('quote'),
    text: storable(),
    attribution: optional(storable()),
    links: links(),
    format: format(),
  })
  .superRefine(checkText);

/** A list inside a list item. */
export interface SubList {
  ordered: boolean;
  items: string[];
  children?: (SubList | null)[] | undefined;
}

function checkChildren(list: SubList, context: Context): void {
  if (list.children !== undefined && list.children.length !== list.items.length) {
    const message = `must have one entry per item: ${list.items.length}, not ${list.children.length}`;
    context.addIssue({ code: 'custom', path: ['children'], message, input: list.children });
  }
}

function listFields(level: number, minItems: number) {
  return {
    ordered: z.boolean(),
    items: z.array(storable()).min(minItems, { error: 'a sub-list needs at least one item' }),
    children: optional(z.array(level < MAX_LIST_LEVELS ? subList(level + 1).nullable() : deepest)),
  };
}

const deepest: z.ZodType<SubList | null, unknown> = z.null({
  error: `lists nest to ${MAX_LIST_LEVELS} levels in all`,
});

function subList(level: number): z.ZodType<SubList, unknown> {
  return z.object(listFields(level, 1)).superRefine(checkChildren);
}

function checkListItems(list: SubList, path: Path, context: Context): void {
  list.items.forEach((item, index) => {
    checkInline(item, [...path, 'items', index], context);
  });
  list.children?.forEach((child, index) => {
    if (child !== null) checkListItems(child, [...path, 'children', index], context);
  });
}

const list = z
  .object({ id: blockId(), type: z.literal('list'), ...listFields(1, 0), format: format() })
  .superRefine((block, context) => {
    checkChildren(block, context);
    if (block.format === 'markdown') checkListItems(block, [], context);
  });

const image = z.object({
  id: blockId(),
  type: z.literal('image'),
  assetId: uuid(),
  altText: storable(),
  caption: optional(storable()),
});

const code = z.object({
  id: blockId(),
  type: z.literal('code'),
  text: storable(),
  language: optional(bounded(0, MAX_CODE_LANGUAGE)),
});

const table = z
  .object({
    id: blockId(),
    type: z.literal('table'),
    header: z.array(storable()).min(1, { error: 'a table needs at least one header cell' }),
    rows: z.array(z.array(storable())),
    align: optional(z.array(z.enum(['left', 'center', 'right']).nullable())),
    format: format(),
  })
  .superRefine((block, context) => {
    const columns = block.header.length;
    block.rows.forEach((row, index) => {
      if (row.length === columns) return;
      const message = `must have exactly as many cells as the header: ${columns}, not ${row.length}`;
      context.addIssue({ code: 'custom', path: ['rows', index], message, input: row });
    });
    if (block.align !== undefined && block.align.length !== columns) {
      const message = `must have one entry per column: ${columns}, not ${block.align.length}`;
      context.addIssue({ code: 'custom', path: ['align'], message, input: block.align });
    }
    if (block.format !== 'markdown') return;
    for (const [index, cell] of block.header.entries()) checkInline(cell, ['header', index], context);
    for (const [index, row] of block.rows.entries()) {
      for (const [column, cell] of row.entries()) checkInline(cell, ['rows', index, column], context);
    }
  });

const divider = z.object({ id: blockId(), type: z.literal('divider') });

/** One block of the body. */
export const blockSchema = z.discriminatedUnion('type', [
  heading,
  paragraph,
  list,
  quote,
  image,
  code,
  table,
  divider,
]);

/** documentJson. Unknown fields are dropped; null for an optional field means absent. */
export const documentSchema = z
  .object({ version: z.literal(1), blocks: z.array(blockSchema) })
  .superRefine((document, context) => {
    const seen = new Set<string>();
    document.blocks.forEach((block, index) => {
      if (seen.has(block.id)) {
        const message = 'is used by another block: block ids are unique in a document';
        context.addIssue({ code: 'custom', path: ['blocks', index, 'id'], message, input: block.id });
      }
      seen.add(block.id);
    });
  });

export type DocumentJson = z.infer<typeof documentSchema>;
export type Block = z.infer<typeof blockSchema>;
export type BlockType = Block['type'];
export type HeadingBlock = z.infer<typeof heading>;
export type ParagraphBlock = z.infer<typeof paragraph>;
export type ListBlock = z.infer<typeof list>;
export type QuoteBlock = z.infer<typeof quote>;
export type ImageBlock = z.infer<typeof image>;
export type CodeBlock = z.infer<typeof code>;
export type TableBlock = z.infer<typeof table>;
export type DividerBlock = z.infer<typeof divider>;
export type ArticleLink = z.infer<typeof link>;

/** One broken rule: where (RFC 6901 pointer into the document), in which block, and what is wrong. */
export interface DocumentIssue {
  pointer: string;
  blockId: string | null;
  message: string;
}

/** The valid document, or every broken rule that was found. */
export type ParsedDocument = { ok: true; document: DocumentJson } | { ok: false; issues: DocumentIssue[] };

/** Checks an unknown value against the document format. Never throws. */
export function parseDocument(value: unknown): ParsedDocument {
  const result = documentSchema.safeParse(value);
  if (result.success) return { ok: true, document: dropAbsent(result.data) };
  return {
    ok: false,
    issues: result.error.issues.map((issue) => ({
      pointer: issue.path
        .map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`)
        .join(''),
      blockId: blockIdAt(value, issue.path),
      message: issue.message,
    })),
  };
}

/** Removes the `undefined` that stands for an absent optional field, so that equal documents are deeply equal. */
function dropAbsent<T>(value: T): T {
  if (Array.isArray(value)) {
    for (const item of value) dropAbsent(item);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) Reflect.deleteProperty(value, key);
      else dropAbsent(field);
    }
  }
  return value;
}

function blockIdAt(value: unknown, path: readonly PropertyKey[]): string | null {
  const [root, index] = path;
  if (root !== 'blocks' || typeof index !== 'number') return null;
  const blocks: unknown = Reflect.get(Object(value), 'blocks');
  const block: unknown = Array.isArray(blocks) ? blocks[index] : undefined;
  const id: unknown = typeof block === 'object' && block !== null ? Reflect.get(block, 'id') : undefined;
  return typeof id === 'string' ? id : null;
}
