/** documentJson to Markdown (CommonMark with GFM tables) for use outside the service. */
import type {
  BlockContent,
  List,
  ListItem,
  Paragraph,
  PhrasingContent,
  Text as PlainText,
  RootContent,
} from 'mdast';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { defaultHandlers, type Handle, toMarkdown } from 'mdast-util-to-markdown';
import type { Block, DocumentJson, SubList } from '../format/schema.ts';
import { parseInline } from '../inline/parse.ts';
import { type InlineNode, type InlineRun, nestRuns, normalizeRuns, textRun } from '../inline/runs.ts';
import { hasMarks, IMAGE_MARK, START_MARK } from './places.ts';
import { codeLanguage } from './shared.ts';

/** How a line break inside a text is written: tables and headings cannot contain line ends. */
type LineBreak = 'break' | 'html' | 'space';

/** A text of a block. */
interface Text {
  readonly text: string;
  readonly format?: 'markdown' | undefined;
}

/**
 * The document as Markdown with the marks of links and images. Ends with a line end unless empty. The words between the
 * marks of a link read the same as plain text and as link content.
 */
export function renderMarkdown(document: DocumentJson): string {
  const children = document.blocks.flatMap(renderBlock);
  return toMarkdown(
    { type: 'root', children },
    {
      bullet: '-',
      rule: '-',
      fences: true,
      listItemIndent: 'one',
      handlers: { paragraph: writeParagraph, text: writeText, list: listWriter() },
      // Padding columns to equal width would make one long cell multiply with the rows.
      extensions: [
        gfmTableToMarkdown({ tablePipeAlign: false }),
        { unsafe: [{ character: '~', inConstruct: 'phrasing' }] },
      ],
    },
  );
}

/** Escapes brackets in a paragraph with marks, because its words may become link content. */
const writeParagraph: Handle = (node: Paragraph, parent, state, info) => {
  const isMarked = node.children.some((child) => child.type === 'text' && hasMarks(child.value));
  const leave = isMarked ? state.enter('label') : null;
  const written = defaultHandlers.paragraph(node, parent, state, info);
  leave?.();
  return written;
};

/** Characters before a part of a line that decide how it is escaped; longer than any list number. */
const CONTEXT = 32;
const MARKS = /(\0.)/;

/** Escapes a line with marks so that it reads the same with and without links. */
const writeText: Handle = (node: PlainText, parent, state, info) => {
  if (!hasMarks(node.value)) return defaultHandlers.text(node, parent, state, info);
  const parts = node.value.split(MARKS);
  const line = info.before + parts.filter((part) => !hasMarks(part)).join('') + info.after;
  let at = info.before.length;
  return parts
    .map((part, index) => {
      if (hasMarks(part)) return part;
      const [mark, next] = [parts[index - 1], parts[index + 1]];
      // Next to a link, an underscore is outside a word, a backslash escapes the bracket, and `!` makes an image.
      const head = mark !== undefined && part.startsWith('_') ? 1 : 0;
      const special = next === START_MARK ? /[_\\!]$/ : /[_\\]$/;
      const tail = next !== undefined && part.length > head && special.test(part) ? 1 : 0;
      const [start, end] = [at + head, at + part.length - tail];
      at += part.length;
      const inner = state.safe(line.slice(start, end), {
        before: line.slice(Math.max(0, start - CONTEXT), start),
        after: line.charAt(end),
      });
      return `${head ? '\\_' : ''}${inner}${tail ? `\\${line.charAt(end)}` : ''}`;
    })
    .join('');
};

/** Gives adjacent lists different bullets, also across images, which may not be shown. */
function listWriter(): Handle {
  let last: string | undefined;
  return (node: List, parent, state, info) => {
    if (parent?.type !== 'root') return defaultHandlers.list(node, parent, state, info);
    let before = (state.indexStack.at(-1) ?? 0) - 1;
    while (parent.children[before]?.type === 'html') before -= 1;
    if (parent.children[before]?.type === 'list') state.bulletLastUsed = last;
    const written = defaultHandlers.list(node, parent, state, info);
    last = state.bulletLastUsed;
    return written;
  };
}

function renderBlock(block: Block): RootContent[] {
  switch (block.type) {
    case 'heading': {
      const children = phrasing(runsOf(block), 'space');
      return [{ type: 'heading', depth: headingDepth(block.level), children }];
    }
    case 'paragraph':
      return paragraph(block);
    case 'quote': {
      const by = block.attribution?.trim() ? paragraph({ text: `— ${block.attribution}` }) : [];
      const children = [...paragraph(block), ...by];
      return children.length === 0 ? [] : [{ type: 'blockquote', children }];
    }
    case 'list':
      return block.items.length === 0
        ? []
        : [list(block, (text) => paragraph({ text, format: block.format }))];
    case 'table': {
      const row = (cells: readonly string[]) => ({
        type: 'tableRow' as const,
        children: cells.map((text) => ({
          type: 'tableCell' as const,
          children: phrasing(runsOf({ text, format: block.format }), 'html'),
        })),
      });
      return [
        { type: 'table', align: block.align ?? [], children: [row(block.header), ...block.rows.map(row)] },
      ];
    }
    case 'image':
      return [{ type: 'html', value: IMAGE_MARK }];
    case 'code':
      return [{ type: 'code', lang: codeLanguage(block.language) || null, value: block.text }];
    case 'divider':
      return [{ type: 'thematicBreak' }];
  }
}

function headingDepth(level: number): 1 | 2 | 3 | 4 | 5 | 6 {
  return ([1, 2, 3, 4, 5, 6] as const)[level - 1] ?? 6;
}

const runsOf = ({ text, format }: Text): readonly InlineRun[] =>
  format === 'markdown' ? parseInline(text) : [textRun(text)];

function paragraph(text: Text): Paragraph[] {
  const children = phrasing(runsOf(text), 'break');
  return children.length === 0 ? [] : [{ type: 'paragraph', children }];
}

function list(source: SubList, item: (text: string) => BlockContent[]): List {
  const children = source.items.map((text, index): ListItem => {
    const child = source.children?.[index];
    return {
      type: 'listItem',
      spread: false,
      children: [...item(text), ...(child ? [list(child, item)] : [])],
    };
  });
  return { type: 'list', ordered: source.ordered, spread: false, children };
}

/** The runs as inline nodes, without line breaks at the edges, which Markdown cannot express. */
function phrasing(runs: readonly InlineRun[], lineBreak: LineBreak): PhrasingContent[] {
  return nestRuns(trimLineEnds(runs)).flatMap((node) => inlineNode(node, lineBreak));
}

function trimLineEnds(runs: readonly InlineRun[]): InlineRun[] {
  const result = [...runs];
  const [first] = result;
  if (first?.kind === 'text') result[0] = { ...first, text: first.text.trimStart() };
  const last = result.at(-1);
  if (last?.kind === 'text') result[result.length - 1] = { ...last, text: last.text.trimEnd() };
  return normalizeRuns(result);
}

function inlineNode(node: InlineNode, lineBreak: LineBreak): PhrasingContent[] {
  switch (node.type) {
    case 'text':
      return lines(node.text, lineBreak);
    case 'code':
      return [{ type: 'inlineCode', value: node.text }];
    case 'strong':
    case 'emphasis':
      return [{ type: node.type, children: node.children.flatMap((child) => inlineNode(child, lineBreak)) }];
    case 'link': {
      const { url, title } = node.link;
      const children = node.children.flatMap((child) => inlineNode(child, lineBreak));
      return [
        {
          type: 'link',
          url,
          title,
          children: children as Exclude<PhrasingContent, { type: 'link' | 'linkReference' }>[],
        },
      ];
    }
  }
}

function lines(text: string, lineBreak: LineBreak): PhrasingContent[] {
  return text.split(/\r\n?|\n/).flatMap((line, index): PhrasingContent[] => {
    const shown: PhrasingContent[] = line === '' ? [] : [{ type: 'text', value: line }];
    if (index === 0) return shown;
    if (lineBreak === 'break') return [{ type: 'break' }, ...shown];
    if (lineBreak === 'html') return [{ type: 'html', value: '<br>' }, ...shown];
    return [{ type: 'text', value: ' ' }, ...shown];
  });
}
