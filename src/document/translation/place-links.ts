/** Links are stored by their words and stand where those occur first: here they get words that occur first at their place. */
import type { TextRange } from '../text/urls.ts';

/** Words besides its own that a link may take in, and characters that it may have. */
const MAX_WORDS = 12;
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/** Whether the words at a place occur there first. */
const standsFirst = (text: string, { start, end }: TextRange): boolean =>
  text.indexOf(text.slice(start, end)) === start;

/**
 * Widens ranges of a text by their neighbours, by as few words as needed, until what stands in each occurs there first.
 * None takes in another. One that cannot be told from an earlier place stays as it is.
 * @param ranges by their starts
 * @param longest characters of a range
 */
export function widenToFirst(text: string, ranges: readonly TextRange[], longest: number): TextRange[] {
  const widened = [...ranges];
  for (const [index, range] of widened.entries()) {
    if (standsFirst(text, range)) continue;
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

/** Neither begins nor ends within a word. */
function widen(text: string, range: TextRange, room: TextRange, longest: number): TextRange | null {
  // Where the longest range ends is not where a word does: what stands there may be a part of one.
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
    // To the right first: that is how people read on.
    for (let before = 0; before <= more; before += 1) {
      const [start, end] = [starts[before], ends[more - before]];
      if (start === undefined || end === undefined || end - start > longest) continue;
      if (standsFirst(text, { start, end })) return { start, end };
    }
  }
  return null;
}
