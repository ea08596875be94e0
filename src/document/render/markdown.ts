/** documentJson to Markdown (CommonMark with GFM tables) for use outside the service. */
import type { BlockContent, List, ListItem, PhrasingContent, RootContent } from 'mdast';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { toMarkdown } from 'mdast-util-to-markdown';
import type { Block, DocumentJson, SubList } from '../format/schema.ts';
import { type InlineNode, type InlineRun, nestRuns, normalizeRuns } from '../inline/runs.ts';
import { ParsedTexts } from '../inline/texts.ts';
import { encodeUrl } from '../text/urls.ts';
import { codeLanguage, type RenderedText, RenderPass, type Resolver } from './shared.ts';

/** How a line break inside a text is written: tables and headings hold no line ends. */
type LineBreak = 'break' | 'html' | 'space';

/** The document as Markdown. Ends with a line end unless it is empty. */
export function renderMarkdown(document: DocumentJson, resolve: Resolver, texts = new ParsedTexts()): string {
  const pass = new RenderPass(resolve, texts);
  const children = document.blocks.flatMap((block) => renderBlock(block, pass));
  return toMarkdown(
    { type: 'root', children },
    {
      bullet: '-',
      rule: '-',
      fences: true,
      listItemIndent: 'one',
      // Padding columns to equal width would make one long cell multiply with the rows.
      extensions: [
        gfmTableToMarkdown({ tablePipeAlign: false }),
        { unsafe: [{ character: '~', inConstruct: 'phrasing' }] },
      ],
    },
  );
}

function renderBlock(block: Block, pass: RenderPass): RootContent[] {
  switch (block.type) {
    case 'heading': {
      const children = phrasing(pass.runs(block), 'space');
      return [{ type: 'heading', depth: headingDepth(block.level), children }];
    }
    case 'paragraph':
      return paragraph(pass, block);
    case 'quote': {
      const by = block.attribution?.trim() ? paragraph(pass, { text: `— ${block.attribution}` }) : [];
      const children = [...paragraph(pass, block), ...by];
      return children.length === 0 ? [] : [{ type: 'blockquote', children }];
    }
    case 'list':
      return block.items.length === 0
        ? []
        : [list(block, (text) => paragraph(pass, { text, format: block.format }))];
    case 'table': {
      const row = (cells: readonly string[]) => ({
        type: 'tableRow' as const,
        children: cells.map((text) => ({
          type: 'tableCell' as const,
          children: phrasing(pass.runs({ text, format: block.format }), 'html'),
        })),
      });
      return [
        { type: 'table', align: block.align ?? [], children: [row(block.header), ...block.rows.map(row)] },
      ];
    }
    case 'image': {
      const image = pass.image(block);
      if (image === null) return [];
      const title = block.caption ? block.caption : null;
      const node = { type: 'image' as const, url: encodeUrl(image.url), alt: image.alt, title };
      return [{ type: 'paragraph', children: [node] }];
    }
    case 'code':
      return [{ type: 'code', lang: codeLanguage(block.language) || null, value: block.text }];
    case 'divider':
      return [{ type: 'thematicBreak' }];
  }
}

function headingDepth(level: number): 1 | 2 | 3 | 4 | 5 | 6 {
  return ([1, 2, 3, 4, 5, 6] as const)[level - 1] ?? 6;
}

function paragraph(pass: RenderPass, text: RenderedText): Extract<BlockContent, { type: 'paragraph' }>[] {
  const children = phrasing(pass.runs(text), 'break');
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

/** The runs as inline nodes, without line breaks at the edges, where Markdown has none. */
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
