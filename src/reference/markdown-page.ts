import type { Nodes, Parents } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { escapeHtml, renderPage } from './html.ts';

const inner = (node: Parents): string => node.children.map(render).join('');

/** Renders the Markdown of our own pages; anything else shows as its text. */
function render(node: Nodes): string {
  switch (node.type) {
    case 'heading':
      return `<h${node.depth}>${inner(node)}</h${node.depth}>`;
    case 'paragraph':
      return `<p>${inner(node)}</p>`;
    case 'list':
      return node.ordered === true ? `<ol>${inner(node)}</ol>` : `<ul>${inner(node)}</ul>`;
    case 'listItem':
      return `<li>${node.children.map((child) => (child.type === 'paragraph' ? inner(child) : render(child))).join('')}</li>`;
    case 'code':
      return `<pre><code>${escapeHtml(node.value)}</code></pre>`;
    case 'inlineCode':
      return `<code>${escapeHtml(node.value)}</code>`;
    case 'strong':
      return `<strong>${inner(node)}</strong>`;
    case 'emphasis':
      return `<em>${inner(node)}</em>`;
    case 'link':
      return `<a href="${escapeHtml(node.url)}">${inner(node)}</a>`;
    case 'text':
      return escapeHtml(node.value);
    default:
      return 'children' in node ? inner(node) : 'value' in node ? escapeHtml(node.value) : '';
  }
}

/** A page's text as part of another: without its title, and with smaller headings. */
export function renderMarkdownPart(markdown: string): string {
  const [first, ...rest] = fromMarkdown(markdown).children;
  const nodes = first === undefined || first.type === 'heading' ? rest : [first, ...rest];
  return nodes.map((node) => (node.type === 'heading' ? `<h4>${inner(node)}</h4>` : render(node))).join('');
}

/** A page of docs/ as HTML, titled by its first heading; `end` is trusted HTML. */
export function renderMarkdownPage(markdown: string, end = ''): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? 'Documentation';
  const back = '<p><a href="/docs">API reference</a></p>';
  return renderPage({ title, body: `<main>${back}${render(fromMarkdown(markdown))}${end}</main>` });
}
