/** The text inside raw HTML of an imported file. Only for reading: the result is plain text and is escaped wherever it is shown. */

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  mdash: '—',
  ndash: '–',
  hellip: '…',
};

/** Drops comments, scripts, styles and tags, keeps the text; ends of block elements become line ends. */
export function htmlToText(html: string): string {
  let text = cutOut(html, '<!--', '-->');
  text = cutOut(text, '<script', '</script>');
  text = cutOut(text, '<style', '</style>');
  return text
    .replace(/<br\s{0,9}\/?>|<\/(?:p|div|li|tr|h[1-6]|summary|details|table|ul|ol|section)>/gi, '\n')
    .replace(/<\/?[a-z!?][^<>]*>/gi, '')
    .replace(/&(?:#(\d{1,7})|([a-z]{2,6}));/gi, (all, code, name) => {
      if (typeof name === 'string') return ENTITIES[name.toLowerCase()] ?? all;
      const point = Number(code);
      const valid = point > 31 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
      return valid ? String.fromCodePoint(point) : '';
    });
}

/** Removes every stretch from `from` to `to`; one that never ends reaches to the end of the text. */
function cutOut(html: string, from: string, to: string): string {
  const lower = html.toLowerCase();
  // Lower case may change a text's length (İ); then positions would not fit, and tags are ASCII anyway.
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
