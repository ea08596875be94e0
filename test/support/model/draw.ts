import { hash } from 'node:crypto';

/** A number from 0 to below 1 that the words decide: the same words, the same number. */
export const draw = (...words: readonly (string | number)[]): number =>
  Number.parseInt(hash('sha256', words.join('\0')).slice(0, 12), 16) / 2 ** 48;

/** One of the choices, as the words decide. */
export function pick<Choice>(choices: readonly Choice[], ...words: readonly (string | number)[]): Choice {
  const [first] = choices;
  if (first === undefined) throw new Error('nothing to pick from');
  return choices[Math.floor(draw(...words) * choices.length)] ?? first;
}
