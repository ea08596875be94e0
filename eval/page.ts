import { renderDocument } from '../src/document/render/document.ts';
import type { EvalResult } from './evaluate.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:1.5rem}table{border-collapse:collapse;font-size:.8rem}
td,th{border:1px solid #bbb;padding:.2rem .4rem;text-align:left}main{display:flex;gap:2rem;overflow-x:auto}
article{flex:0 0 34rem}pre{white-space:pre-wrap;font-size:.8rem;background:#f3f3f3;padding:.5rem}`;

export interface PageOptions {
  readonly title: string;
  /** The figures, the header first. */
  readonly table: readonly (readonly string[])[];
  /** Shows each prompt as it was sent. */
  readonly prompts: boolean;
}

/** A page with the figures, and the articles side by side. Everything that a model wrote is escaped, or rendered as an article. */
export function pageOf(results: readonly EvalResult[], { title, table, prompts }: PageOptions): string {
  const [header = [], ...rows] = table;
  const cells = (row: readonly string[], tag: 'td' | 'th') =>
    `<tr>${row.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style></head><body>
<h1>${escaped(title)}</h1>
<table><thead>${cells(header, 'th')}</thead><tbody>${rows.map((row) => cells(row, 'td')).join('\n')}</tbody></table>
<main>
${results.map((result) => articleOf(result, prompts)).join('\n')}
</main></body></html>
`;
}

function articleOf({ brief, calls, written, failure }: EvalResult, prompts: boolean): string {
  const text =
    written === null
      ? `<p>${escaped(failure ?? '')}</p>`
      : `<h1>${escaped(written.article.outline.title)}</h1>
<p><small>${escaped(written.article.outline.metaTitle)} · ${escaped(written.article.outline.metaDescription)}</small></p>
${renderDocument(written.article.document).html}`;
  const sent = calls.map(({ kind, request: { instructions, messages }, repairs }) => {
    const turns = [
      `system:\n${instructions}`,
      ...messages.map(({ role, text: said }) => `${role}:\n${said}`),
    ];
    return `<details><summary>${escaped(kind)}${repairs.length === 0 ? '' : ', again'}</summary><pre>${escaped(turns.join('\n\n'))}</pre></details>`;
  });
  return `<article lang="${escaped(brief.config.language)}"><h2 lang="en">${escaped(brief.name)}</h2>
<pre lang="en">${escaped(JSON.stringify(brief.config, null, 1))}</pre>
${text}
${prompts ? sent.join('\n') : ''}</article>`;
}
