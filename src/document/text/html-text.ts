/** Extracts plain text from raw HTML of an imported file. The result must be escaped wherever it is shown. */

import { decodeReferences } from './references.ts';

/** An `<img>` of the HTML. */
export interface HtmlImage {
  readonly url: string;
  readonly alt: string;
  readonly title: string | null;
}

/**
 * Removes comments, scripts, styles and tags and keeps the text; ends of block elements become line ends. Images are
 * separate parts; an image without an address becomes its alternative text.
 */
export function htmlToParts(html: string): (string | HtmlImage)[] {
  const shown = cutHidden(html);
  const parts: (string | HtmlImage)[] = [];
  let at = 0;
  for (const match of shown.matchAll(/<img(?=[\s/])[^<>]*>/gi)) {
    parts.push(stripTags(shown.slice(at, match.index)));
    at = match.index + match[0].length;
    const url = attribute(match[0], 'src').trim();
    const alt = attribute(match[0], 'alt');
    parts.push(url === '' ? alt : { url, alt, title: attribute(match[0], 'title') || null });
  }
  parts.push(stripTags(shown.slice(at)));
  return parts.filter((part) => part !== '');
}

function attribute(tag: string, name: 'src' | 'alt' | 'title'): string {
  const match = new RegExp(`\\s${name}\\s{0,9}=\\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\\s"'=<>\`]+))`, 'i').exec(
    tag,
  );
  return decodeReferences(match?.[1] ?? match?.[2] ?? match?.[3] ?? '');
}

function cutHidden(html: string): string {
  return cutOut(cutOut(cutOut(html, '<!--', '-->'), '<script', '</script>'), '<style', '</style>');
}

function stripTags(html: string): string {
  return decodeReferences(
    html
      .replace(/<br\s{0,9}\/?>|<\/(?:p|div|li|tr|h[1-6]|summary|details|table|ul|ol|section)>/gi, '\n')
      .replace(/<\/?[a-z!?][^<>]*>/gi, ''),
  );
}

/** Removes everything from each `from` to the next `to`, or to the end of the text. */
function cutOut(html: string, from: string, to: string): string {
  const lower = html.toLowerCase();
  // Lower case may change a text's length (İ), which would shift positions; tags are ASCII.
  const searched = lower.length === html.length ? lower : html;
  const parts: string[] = [];
  let at = 0;
  for (let start = searched.indexOf(from); start !== -1; start = searched.indexOf(from, at)) {
    parts.push(html.slice(at, start));
    const end = searched.indexOf(to, start + from.length);
    at = end === -1 ? html.length : end + to.length;
  }
  parts.push(html.slice(at));
  return parts.join('');
}
