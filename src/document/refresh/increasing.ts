/** The indexes of a longest increasing part of a sequence of different numbers. */
export function increasing(numbers: readonly number[]): Set<number> {
  // By length of a part its smallest last number's index; and for each index the one before it in its part.
  const ends: number[] = [];
  const before: number[] = [];
  for (const [index, number] of numbers.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1] ?? -1);
    ends[low] = index;
  }
  const found = new Set<number>();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) found.add(index);
  return found;
}
