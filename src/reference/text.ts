import { escapeHtml } from './html.ts';

/** A token of JSON text: a string, which may be a name, a word, or a number. */
const JSON_TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Inline code. */
export const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** Prose in which `…` marks code. */
export const prose = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

export const paragraphs = (text: string): string =>
  text
    .split('\n\n')
    .map((part) => `<p>${prose(part)}</p>`)
    .join('');

/** A block of text that can be copied; `label` names it for screen readers. */
export const block = (label: string, html: string): string =>
  `<div class="block"><pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${html}</code></pre></div>`;

/** A value as indented JSON with coloured names, strings and words. */
export function jsonBlock(label: string, value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  let html = '';
  let end = 0;
  for (const match of text.matchAll(JSON_TOKEN)) {
    const [whole, string, colon] = match;
    html += escapeHtml(text.slice(end, match.index));
    end = match.index + whole.length;
    if (colon !== undefined) html += `<span class="n">${escapeHtml(string ?? '')}</span>${colon}`;
    else html += `<span class="${string === undefined ? 'w' : 's'}">${escapeHtml(whole)}</span>`;
  }
  return block(label, html + escapeHtml(text.slice(end)));
}
