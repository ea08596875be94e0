/** How the bytes of a page become text. */

/** Where a page may say its encoding, by the HTML standard. */
const SNIFFED_BYTES = 1_024;
const META_CHARSET = /<meta\b[^>]*?\bcharset\s{0,8}=\s{0,8}["']?\s{0,8}([\w:.-]{1,40})/i;
const HEADER_CHARSET = /;\s{0,8}charset\s{0,8}=\s{0,8}"?([\w:.-]{1,40})/i;
/** Characters that could not be decoded: so many, or one in a thousand, are an accident. */
const FEW_BROKEN = 10;
const BROKEN_SHARE = 1 / 1_000;

const BYTE_ORDER_MARKS = [
  { bytes: [0xef, 0xbb, 0xbf], label: 'utf-8' },
  { bytes: [0xfe, 0xff], label: 'utf-16be' },
  { bytes: [0xff, 0xfe], label: 'utf-16le' },
] as const;

/** What the page says itself. One that can say it in ASCII is not in UTF-16. */
function labelInPage(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, SNIFFED_BYTES)).toString('latin1');
  const label = META_CHARSET.exec(start)?.[1];
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

/**
 * Decodes a page by its byte order mark, its header or its meta element, in this order; without any of them it is UTF-8.
 * @returns null for an encoding that is unknown, or that the bytes are not in
 */
export function decodePage(bytes: Uint8Array, contentType: string): string | null {
  const mark = BYTE_ORDER_MARKS.find((one) => one.bytes.every((byte, at) => bytes[at] === byte));
  const label = mark?.label ?? HEADER_CHARSET.exec(contentType)?.[1] ?? labelInPage(bytes) ?? 'utf-8';
  let text: string;
  try {
    text = new TextDecoder(label).decode(bytes);
  } catch {
    return null;
  }
  const broken = text.split('\uFFFD').length - 1;
  return broken > Math.max(FEW_BROKEN, text.length * BROKEN_SHARE) ? null : text;
}
