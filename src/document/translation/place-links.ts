/** A link is stored by its words and placed at their first occurrence. Widens the words of a link that comes later. */
import type { TextRange } from '../text/literals.ts';

/** Bounds on the words that a link may gain, and on its characters. */
const MAX_WORDS = 12;
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/** Whether the words in a range occur there for the first time. */
const isFirstOccurrence = (text: string, { start, end }: TextRange): boolean =>
  text.indexOf(text.slice(start, end)) === start;

/**
 * Widens ranges of a text by as few words as needed until each one's text has its first occurrence there. Ranges never
 * overlap. A range that cannot be made unique stays as it is.
 * @param ranges sorted by start
 * @param longest the most characters of a range
 */
export function widenToFirst(text: string, ranges: readonly TextRange[], longest: number): TextRange[] {
  const widened = [...ranges];
  for (const [index, range] of widened.entries()) {
    if (isFirstOccurrence(text, range)) continue;
    const others = widened.filter((_, other) => other !== index);
    const room = {
      start: Math.max(
        range.end - longest,
        0,
        ...others.map(({ end }) => end).filter((end) => end <= range.start),
      ),
      end: Math.min(
        range.start + longest,
        text.length,
        ...others.map(({ start }) => start).filter((start) => start >= range.end),
      ),
    };
    widened[index] = widen(text, range, room, longest) ?? range;
  }
  return widened;
}

/** The widened range, which neither begins nor ends within a word; null when there is none. */
function widen(text: string, range: TextRange, room: TextRange, longest: number): TextRange | null {
  // The longest range may end inside a word: the partial word does not count.
  const first = room.start > 0 && room.start === range.end - longest ? room.start + 2 : room.start;
  const last = room.end < text.length && room.end === range.start + longest ? room.end - 2 : room.end;
  const words = [...SEGMENTER.segment(text.slice(room.start, room.end))]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ index, segment }) => ({
      start: room.start + index,
      end: room.start + index + segment.length,
    }));
  const starts = [
    range.start,
    ...words
      .map(({ start }) => start)
      .filter((start) => first <= start && start < range.start)
      .reverse(),
  ];
  const ends = [range.end, ...words.map(({ end }) => end).filter((end) => end > range.end && end <= last)];
  for (let more = 1; more <= MAX_WORDS; more += 1) {
    // To the right first.
    for (let before = 0; before <= more; before += 1) {
      const [start, end] = [starts[before], ends[more - before]];
      if (start === undefined || end === undefined || end - start > longest) continue;
      if (isFirstOccurrence(text, { start, end })) return { start, end };
    }
  }
  return null;
}
