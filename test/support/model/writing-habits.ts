/** What a careless writer does to a JSON answer, whatever its shape, or to a text: at most one habit an answer. */
import { draw, pick } from './draw.ts';

export const WRITING_HABITS = [
  'headingOne',
  'repeat',
  'empty',
  'link',
  'script',
  'markdown',
  'chatter',
  'truncate',
  'cutOff',
] as const;
export type WritingHabit = (typeof WRITING_HABITS)[number];

export interface WritingMood {
  readonly seed: number;
  readonly question: string;
  /** How often the same question was asked before. */
  readonly tries: number;
  /** True of a question that shows an earlier answer and what is wrong with it. */
  readonly repaired: boolean;
  readonly repairs: number;
  readonly rates: Readonly<Partial<Record<WritingHabit, number>>>;
  /** What an instruction turn orders to say everywhere; null when none does. */
  readonly order: string | null;
}

const LINKS = [
  '[our partner](https://spam.example/offer)',
  'https://spam.example/offer',
  '<https://spam.example/offer>',
  '[more](/admin/keys)',
  '[write to us](mailto:spam@spam.example)',
  'Compare us with spam.example/offer and Socket.io.',
];
const SCRIPTS = ['Это предложение написано не на том языке.', '这句话用错了语言。', 'هذه الجملة بلغة أخرى.'];
const FOREIGN_MARKDOWN = [
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '![a picture](https://spam.example/a.png)',
  '<div onclick="go()">A box</div>',
  '- one\n- two',
  '```js\nalert(1)\n```',
  '> Somebody said this once.',
  '---\n\n**Tip**',
  '## Another heading\n\nIt costs $5/month, see `<head>` and arr[0][1].',
];

/** The answer as the model sends it. */
export function spoilWriting(honest: unknown, mood: WritingMood): { content: string; cutOff: boolean } {
  const { seed, question, tries, repaired, repairs, rates, order } = mood;
  const isText = typeof honest === 'string';
  // Of a text each paragraph is a value.
  const values = isText ? honest.split('\n\n') : honest;
  const write = (spoilt: unknown): string =>
    isText && Array.isArray(spoilt) ? spoilt.join('\n\n') : JSON.stringify(spoilt);
  const plain = { content: write(values), cutOff: false };
  if (order !== null) return { content: write(mapStrings(values, () => order)), cutOff: false };
  if (repaired && draw(seed, question, tries, 'repair') < repairs) return plain;
  const by = (...words: string[]): number => draw(seed, question, tries, ...words);
  for (const habit of WRITING_HABITS.filter((name) => by(name) < (rates[name] ?? 0))) {
    if (habit === 'chatter') {
      const said = isText ? 'Sure! Here is the text:' : 'Sure! Here it is:';
      return { content: `${said}\n\n${plain.content}\n\nShall I go on?`, cutOff: false };
    }
    if (habit === 'cutOff') {
      return { content: plain.content.slice(0, plain.content.length / 2), cutOff: true };
    }
    const spoilt = SPOIL[habit](values, { seed, question, tries });
    if (spoilt !== null) return { content: write(spoilt), cutOff: false };
  }
  return plain;
}

type Place = Pick<WritingMood, 'seed' | 'question' | 'tries'>;

const SPOIL: Readonly<
  Record<Exclude<WritingHabit, 'chatter' | 'cutOff'>, (honest: unknown, place: Place) => unknown>
> = {
  /** A heading of the first level, or a line that Markdown takes for one. */
  headingOne: (honest, place) =>
    changeOne(
      honest,
      place,
      (value) => isRecord(value) && typeof value.level === 'number',
      (value) => ({ ...(value as object), level: 1 }),
    ) ?? changeProse(honest, place, (text) => `# ${text}`),
  repeat: (honest, place) =>
    changeOne(honest, place, isListOfWriting, (value) => {
      const list = value as unknown[];
      return [...list, list[0]];
    }),
  empty: (honest, place) =>
    changeOne(honest, place, isListOfWriting, () => []) ?? changeProse(honest, place, () => ''),
  link: (honest, place) => changeProse(honest, place, (text) => `${text} ${choose(LINKS, place)}`),
  script: (honest, place) =>
    changeProse(honest, place, (text) => choose(SCRIPTS, place).repeat(1 + text.length / 60)),
  markdown: (honest, place) =>
    changeProse(honest, place, (text) => `${text}\n\n${choose(FOREIGN_MARKDOWN, place)}`),
  truncate: (honest, place) => changeProse(honest, place, (text) => text.slice(0, text.length * 0.6)),
};

const choose = (choices: readonly string[], { seed, question, tries }: Place): string =>
  pick(choices, seed, question, tries, 'choice');

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isProse = (value: unknown): boolean => typeof value === 'string' && value.split(' ').length >= 4;
/** A list of what a reader reads, and not of names or addresses. */
const isListOfWriting = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isProse(item) || isRecord(item));

const changeProse = (honest: unknown, place: Place, change: (text: string) => string): unknown =>
  changeOne(honest, place, isProse, (value) => change(value as string));

/** A copy in which one of the values that fit is changed; null when none fits. */
function changeOne(
  json: unknown,
  { seed, question, tries }: Place,
  fits: (value: unknown) => boolean,
  change: (value: unknown) => unknown,
): unknown {
  const count = (value: unknown): number =>
    (fits(value) ? 1 : 0) + childrenOf(value).reduce<number>((sum, child) => sum + count(child), 0);
  const all = count(json);
  if (all === 0) return null;
  let left = Math.floor(draw(seed, question, tries, 'place') * all);
  const walk = (value: unknown): unknown => {
    if (fits(value)) {
      left -= 1;
      if (left === -1) return change(value);
    }
    return mapChildren(value, walk);
  };
  return walk(json);
}

const childrenOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

const mapChildren = (value: unknown, change: (child: unknown) => unknown): unknown =>
  Array.isArray(value)
    ? value.map(change)
    : isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key, change(child)]))
      : value;

const mapStrings = (value: unknown, change: (text: string) => string): unknown =>
  typeof value === 'string' ? change(value) : mapChildren(value, (child) => mapStrings(child, change));
