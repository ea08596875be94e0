/** What a careless model does to one text: pure, by seed, text and try. */
import { draw, pick } from './draw.ts';
import { likeCase, mapProse, translateProse } from './toy-language.ts';

/** At most one of these befalls a text in one answer; those that cannot befall it (no number, no tag) are passed over. */
export const HABITS = ['drop', 'echo', 'chatter', 'truncate', 'overrun', 'numbers', 'tags', 'slip'] as const;
export type Habit = (typeof HABITS)[number];

/** A term as a prompt names it. */
export interface NamedTerm {
  readonly source: string;
  /** Null for one that stays as it is. */
  readonly target: string | null;
  readonly caseSensitive: boolean;
  /** True of the glossary, which the habit `slip` ignores. */
  readonly binding: boolean;
}

export interface Question {
  readonly id: string;
  readonly text: string;
  /** How often the text was asked for before. */
  readonly tries: number;
  /** The terms that the request names. */
  readonly terms: readonly NamedTerm[];
}

export interface Character {
  readonly seed: number;
  /** How often each habit befalls a text: shares from 0 to 1. */
  readonly rates: Readonly<Partial<Record<Habit, number>>>;
  /** Share of the texts with a term no request names in which the model takes any of its renderings, not the first. */
  readonly drift: number;
  /** Share of the texts asked for again that come back without any habit. */
  readonly repairs: number;
  /** The renderings that the model knows for a term. */
  readonly renderings: Readonly<Record<string, readonly string[]>>;
  /** Habits that certain texts always meet, however often they are asked for. */
  readonly stubborn: (question: Question) => Habit | null;
}

export interface Answered {
  readonly id: string;
  readonly text: string;
  readonly tries: number;
  readonly habit: Habit | null;
  /** Null when the id is left out. */
  readonly answer: string | null;
}

/** The translation of a text, with what the model's character makes of it. */
export function answerText(question: Question, character: Character): Answered {
  const { id, text, tries } = question;
  const { seed, rates } = character;
  const honest = translate(question, character, true);
  const answered = (habit: Habit | null, answer: string | null): Answered => ({
    id,
    text,
    tries,
    habit,
    answer,
  });
  const stubborn = character.stubborn(question);
  const repaired = tries > 0 && draw(seed, text, tries, 'repair') < character.repairs;
  const wanted =
    stubborn !== null
      ? [stubborn]
      : repaired
        ? []
        : HABITS.filter((habit) => draw(seed, text, tries, habit) < (rates[habit] ?? 0));
  for (const habit of wanted) {
    if (habit === 'drop') return answered(habit, null);
    const spoilt =
      habit === 'slip' ? translate(question, character, false) : SPOIL[habit](question, honest, seed);
    if (spoilt !== null && spoilt !== honest) return answered(habit, spoilt);
  }
  return answered(null, honest);
}

function translate({ text, tries, terms }: Question, character: Character, obedient: boolean): string {
  const { seed, drift, renderings } = character;
  const named = obedient ? terms : terms.filter(({ binding }) => !binding);
  const phrases = [...terms.map(({ source }) => source), ...Object.keys(renderings)];
  const render = (found: string): string | null => {
    const same = ({ source, caseSensitive }: NamedTerm) =>
      caseSensitive ? source === found : source.toLowerCase() === found.toLowerCase();
    const term = named.find(same);
    if (term !== undefined) {
      if (term.target === null) return found;
      return term.caseSensitive ? term.target : likeCase(found, term.target);
    }
    // A glossary that is ignored gives way to the words, so that a slip shows.
    if (terms.some(same)) return null;
    const known = renderings[found.toLowerCase()];
    if (known === undefined) return null;
    const drifts = draw(seed, text, tries, 'drift') < drift;
    return likeCase(found, drifts ? pick(known, seed, text, tries, found) : (known[0] ?? found));
  };
  return mapProse(text, (prose) => translateProse(prose, phrases, render));
}

type Spoil = (question: Question, honest: string, seed: number) => string | null;

const TAG = /<[^<>]*>/g;
const NUMBER = /\d+(?:[.,]\d+)*/g;
const CHATTER: readonly ((answer: string) => string)[] = [
  (answer) => `Sure! Here is the translation: ${answer}`,
  (answer) => `${answer}\n\nLet me know if you would like any changes.`,
  (answer) => `Translation: ${answer}`,
  (answer) => `"${answer}" (I kept the tone of the original.)`,
];
const LIMITS: Readonly<Record<string, number>> = { metaTitle: 70, metaDescription: 200 };

const SPOIL: Readonly<Record<Exclude<Habit, 'drop' | 'slip'>, Spoil>> = {
  echo: ({ text }) => text,
  chatter: ({ text }, honest, seed) => pick(CHATTER, seed, text, 'chatter')(honest),
  truncate(_question, honest) {
    const words = honest.split(' ');
    return words.length < 12 || honest.includes('<') ? null : words.slice(0, words.length / 4).join(' ');
  },
  overrun({ id }, honest) {
    const limit = LIMITS[id];
    return limit === undefined ? null : `${honest} ${'y algo más '.repeat(limit / 10)}`.trim();
  },
  numbers(_question, honest) {
    const numbers = [...new Set(honest.replaceAll(TAG, '').match(NUMBER))];
    const [one, other = `${one}7`] = numbers;
    if (one === undefined) return null;
    return mapProse(honest, (prose) =>
      prose.replace(NUMBER, (number) => (number === one ? other : number === other ? one : number)),
    );
  },
  tags({ text }, honest, seed) {
    const tags = honest.match(TAG);
    if (tags === null) return null;
    const tag = pick(tags, seed, text, 'tag');
    return pick(
      [
        honest.replace(tag, ''),
        honest.replace(tag, `${tag}${tag}`),
        honest.replace(/id="\d+"/, 'id="99"'),
        honest.replaceAll(TAG, ''),
      ],
      seed,
      text,
      'damage',
    );
  },
};
