/** The canonical article body: every rule and bound of contract.md F, as one schema. */
import { z } from 'zod';
import { withinBounds } from '../text/characters.ts';
import { MAX_DOCUMENT_MARKS, MAX_LINK_TITLE, MAX_PARAGRAPH_MARKS } from '../text/marks.ts';
import { MAX_DOCUMENT_IMAGES, MAX_DOCUMENT_LINKS } from './limits.ts';

/** Links one block may hold. */
export const MAX_LINKS = 20;
/** Levels of nested lists, with the outermost. */
export const MAX_LIST_LEVELS = 4;
/** Characters the text of a `links` entry may have. */
export const MAX_LINK_TEXT = 200;
/** Characters a code block's language may have. */
export const MAX_CODE_LANGUAGE = 40;

/** Blocks a document may have. */
export const MAX_BLOCKS = 10_000;
/** Items one list, or list inside a list, may have. */
const MAX_ITEMS = 2_000;
/** Rows a table may have below its header. */
const MAX_ROWS = 5_000;
/** Columns a table may have. */
const MAX_COLUMNS = 100;
/** Characters of any text of a block but code. */
export const MAX_TEXT = 20_000;
/** Characters of a code block. */
export const MAX_CODE = 100_000;
/** Characters of an image's altText. */
export const MAX_ALT_TEXT = 1_000;

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

/** A text of a block. `parseDocument` checks its length, because a translation may be longer than its source. */
const text = (max = MAX_TEXT) => storable().meta({ maxLength: max });

function atMost<T extends z.ZodType>(items: T, max: number, what: string) {
  return z.array(items).max(max, { error: `at most ${max} ${what} are allowed` });
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
const links = () => optional(atMost(link, MAX_LINKS, 'links in a block'));

type Context = z.core.$RefinementCtx;

const heading = z.object({
  id: blockId(),
  type: z.literal('heading'),
  level: z.int().min(1).max(6),
  text: text(),
  format: format(),
});

const paragraph = z.object({
  id: blockId(),
  type: z.literal('paragraph'),
  text: text(),
  links: links(),
  format: format(),
});

const quote = z.object({
  id: blockId(),
  type: z.literal('quote'),
  text: text(),
  attribution: optional(text()),
  links: links(),
  format: format(),
});

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
    items: atMost(text(), MAX_ITEMS, 'items in a list').min(minItems, {
      error: 'a sub-list needs at least one item',
    }),
    children: optional(
      atMost(level < MAX_LIST_LEVELS ? subList(level + 1).nullable() : deepest, MAX_ITEMS, 'children'),
    ),
  };
}

const deepest: z.ZodType<SubList | null, unknown> = z.null({
  error: `lists can be nested ${MAX_LIST_LEVELS} levels deep at most`,
});

function subList(level: number): z.ZodType<SubList, unknown> {
  return z.object(listFields(level, 1)).superRefine(checkChildren);
}

const list = z
  .object({ id: blockId(), type: z.literal('list'), ...listFields(1, 0), format: format() })
  .superRefine(checkChildren);

const image = z.object({
  id: blockId(),
  type: z.literal('image'),
  assetId: uuid(),
  altText: text(MAX_ALT_TEXT),
  caption: optional(text()),
});

const code = z.object({
  id: blockId(),
  type: z.literal('code'),
  text: text(MAX_CODE),
  language: optional(bounded(0, MAX_CODE_LANGUAGE)),
});

const table = z
  .object({
    id: blockId(),
    type: z.literal('table'),
    header: atMost(text(), MAX_COLUMNS, 'columns').min(1, {
      error: 'a table needs at least one header cell',
    }),
    rows: atMost(atMost(text(), MAX_COLUMNS, 'cells in a row'), MAX_ROWS, 'rows'),
    align: optional(atMost(z.enum(['left', 'center', 'right']).nullable(), MAX_COLUMNS, 'columns')),
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

/** documentJson as the reference describes it; `parseDocument` also checks rules across blocks and inside texts. */
export const documentSchema = z
  .object({ version: z.literal(1), blocks: z.array(blockSchema).max(MAX_BLOCKS) })
  .meta({
    description: `Block ids are unique. Texts have at most ${MAX_TEXT} characters, code ${MAX_CODE}. A paragraph of Markdown text has at most ${MAX_PARAGRAPH_MARKS} marks (\`[ ] * _ < & \\ !\`, backticks and line ends), fewer if many of them are emphasis; all texts together have at most ${MAX_DOCUMENT_MARKS}. Link titles have at most ${MAX_LINK_TITLE} characters, and all \`links\` of a document at most ${MAX_DOCUMENT_LINKS} entries. It has at most ${MAX_DOCUMENT_IMAGES} images.`,
  });

export type DocumentJson = z.infer<typeof documentSchema>;

/** The stored body of an article without content. */
export const EMPTY_DOCUMENT = '{"version":1,"blocks":[]}';
export type Block = z.infer<typeof blockSchema>;
export type BlockType = Block['type'];
export type TableBlock = z.infer<typeof table>;
export type ArticleLink = z.infer<typeof link>;
