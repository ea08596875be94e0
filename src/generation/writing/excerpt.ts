const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/** The first words of a text. */
export function firstWords(text: string, count: number): string {
  const words = [...SEGMENTER.segment(text)].filter(({ isWordLike }) => isWordLike);
  const last = words[count - 1];
  return last === undefined || words.length === count
    ? text
    : `${text.slice(0, last.index + last.segment.length)}…`;
}
