/** Image formats by their first bytes: a file extension proves nothing. */
const SIGNATURES: readonly { readonly mediaType: string; readonly matches: (bytes: Buffer) => boolean }[] = [
  {
    mediaType: 'image/png',
    matches: (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
  },
  { mediaType: 'image/jpeg', matches: (bytes) => bytes.subarray(0, 3).toString('hex') === 'ffd8ff' },
  { mediaType: 'image/gif', matches: (bytes) => /^GIF8[79]a/.test(bytes.subarray(0, 6).toString('latin1')) },
  {
    mediaType: 'image/webp',
    matches: (bytes) => /^RIFF.{4}WEBP/s.test(bytes.subarray(0, 12).toString('latin1')),
  },
  {
    mediaType: 'image/avif',
    matches: (bytes) => /^.{4}ftypavi[fs]/s.test(bytes.subarray(0, 12).toString('latin1')),
  },
  { mediaType: 'image/svg+xml', matches: isSvg },
];

/** Bytes searched for the root element of an SVG image: declarations and comments may come first. */
const SVG_PROLOGUE_BYTES = 16_384;

/** What may come before the root element, with its end. */
const PROLOGUE = [
  ['<?', '?>'],
  ['<!--', '-->'],
  ['<!DOCTYPE svg', '>'],
] as const;

function isSvg(bytes: Buffer): boolean {
  let rest = bytes
    .subarray(0, SVG_PROLOGUE_BYTES)
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart();
  for (;;) {
    const part = PROLOGUE.find(([opening]) => rest.startsWith(opening));
    if (part === undefined) return /^<svg[\s>]/.test(rest);
    const end = rest.indexOf(part[1], part[0].length);
    if (end === -1) return false;
    rest = rest.slice(end + part[1].length).trimStart();
  }
}

/**
 * The media type of a PNG, JPEG, GIF, WebP, AVIF or SVG image, or null for anything else. An SVG image can contain
 * scripts: serve it so that browsers do not run them.
 */
export const imageMediaType = (bytes: Buffer): string | null =>
  SIGNATURES.find(({ matches }) => matches(bytes))?.mediaType ?? null;
