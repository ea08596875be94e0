/** The word PLACEHOLDER as strokes: machines without fonts draw boxes in place of letters. */
import { IMAGE_SIZE } from '../image-model.ts';

const WORD = 'PLACEHOLDER';

/** Letters in a box of 4 by 6, as paths. */
const STROKES: Readonly<Record<string, string>> = {
  P: 'M0 6V0H2.5A1.6 1.6 0 0 1 2.5 3.2H0',
  L: 'M0 0V6H3.6',
  A: 'M0 6L2 0L4 6M.8 3.8H3.2',
  C: 'M3.9 1.1A2.4 3 0 1 0 3.9 4.9',
  E: 'M3.6 0H0V6H3.6M0 3H3',
  H: 'M0 0V6M4 0V6M0 3H4',
  O: 'M2 0A2 3 0 0 1 2 6A2 3 0 0 1 2 0',
  D: 'M0 0V6H1.6A2.6 3 0 0 0 1.6 0Z',
  R: 'M0 6V0H2.5A1.6 1.6 0 0 1 2.5 3.2H0M2.2 3.2L4 6',
};

const SCALE = 4;
const ADVANCE = 6;
const PADDING = 20;
const MARGIN = 32;

/** A dark label in the lower right corner. */
export function placeholderMark(): string {
  const letters = [...WORD].map(
    (letter, index) => `<path transform="translate(${index * ADVANCE} 0)" d="${STROKES[letter] ?? ''}"/>`,
  );
  const width = SCALE * (ADVANCE * WORD.length - 2) + 2 * PADDING;
  const height = SCALE * 6 + 2 * PADDING;
  const [x, y] = [IMAGE_SIZE.width - MARGIN - width, IMAGE_SIZE.height - MARGIN - height];
  return [
    `<g transform="translate(${x} ${y})">`,
    `<rect width="${width}" height="${height}" rx="${height / 2}" fill="#101418" fill-opacity=".72"/>`,
    `<g transform="translate(${PADDING} ${PADDING}) scale(${SCALE})" fill="none" stroke="#fff" stroke-width=".75"`,
    ` stroke-linecap="round" stroke-linejoin="round">${letters.join('')}</g></g>`,
  ].join('');
}
