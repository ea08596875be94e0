/** Bytes in which the root element is looked for. */
const PROLOGUE_BYTES = 16_384;
const MAX_SIDE = 100_000;

interface Size {
  readonly width: number | null;
  readonly height: number | null;
}

/** The size that the root element of an SVG names in pixels: its width and height, or those of its view box. */
export function svgSize(bytes: Buffer): Size {
  const text = bytes.toString('utf8', 0, PROLOGUE_BYTES);
  const from = text.search(/<svg[\s>]/);
  const root = text.slice(from, text.indexOf('>', from));
  const named = (name: string): number | null => {
    const value = new RegExp(`\\s${name}\\s?=\\s?["'](\\d{1,6}(?:\\.\\d{1,6})?)(?:px)?["']`).exec(root)?.[1];
    return value === undefined ? null : pixels(Number(value));
  };
  const width = named('width');
  const height = named('height');
  if (width !== null && height !== null) return { width, height };
  const box = /\sviewBox\s?=\s?["']([^"']{1,80})["']/
    .exec(root)?.[1]
    ?.trim()
    .split(/[\s,]+/);
  const [boxWidth, boxHeight] = [pixels(Number(box?.[2])), pixels(Number(box?.[3]))];
  return boxWidth === null || boxHeight === null
    ? { width: null, height: null }
    : { width: boxWidth, height: boxHeight };
}

const pixels = (value: number): number | null => {
  const rounded = Math.round(value);
  return rounded >= 1 && rounded <= MAX_SIDE ? rounded : null;
};
