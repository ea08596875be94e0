/** Which sections images stand in. */

/**
 * Spreads images evenly over sections: never two in one while another has fewer.
 * @returns for each image the position of its section, from 0, in order; nothing where there is no section
 */
export const placeImages = (sections: number, images: number): number[] =>
  sections < 1
    ? []
    : Array.from({ length: images }, (_, index) => Math.floor(((index + 0.5) * sections) / images));

/**
 * Gives each image a section, as evenly as `placeImages`. The first that wishes for a section gets it; another that wishes for it gets the nearest one
 * with room, and those whose wish is none of the sections are spread over what is left.
 * @param sections at least 1
 * @param wishes positions of sections, from 0; null without one
 * @returns for each image the position of its section
 */
export function settlePlaces(sections: number, wishes: readonly (number | null)[]): number[] {
  const each = Math.floor(wishes.length / sections);
  /** Sections that have to take one more. */
  let more = wishes.length % sections;
  const taken = Array.from({ length: sections }, () => 0);
  const placed = wishes.map((wish) => {
    const held = wish === null ? undefined : taken[wish];
    if (wish === null || held === undefined || held > each || (held === each && more === 0)) return null;
    if (held === each) more -= 1;
    taken[wish] = held + 1;
    return wish;
  });
  const take = (index: number, position: number): void => {
    taken[position] = (taken[position] ?? 0) + 1;
    placed[index] = position;
  };
  const leastTaken = (): number[] => {
    const least = Math.min(...taken);
    return taken.flatMap((count, position) => (count === least ? [position] : []));
  };
  for (const [index, wish] of wishes.entries()) {
    if (placed[index] !== null || wish === null || wish < 0 || wish >= sections) continue;
    const [nearest = 0] = leastTaken().toSorted(
      (one, other) => Math.abs(one - wish) - Math.abs(other - wish),
    );
    take(index, nearest);
  }
  for (;;) {
    const left = placed.flatMap((position, index) => (position === null ? [index] : []));
    if (left.length === 0) break;
    const free = leastTaken();
    const round = left.slice(0, free.length);
    const spread = placeImages(free.length, round.length);
    for (const [order, index] of round.entries()) take(index, free[spread[order] ?? 0] ?? 0);
  }
  return placed.map((position) => position ?? 0);
}
