import { areSmall, LOOP_CHARACTERS } from '../../../src/threads/pool.ts';
import { type Components, formsOf, isType, type Schema, smallest } from './schema.ts';

/** A body to send, and its description for the report. */
export interface SizedBody {
  readonly name: string;
  readonly bytes: Buffer;
}

/** What a text is made of, over and over: plain, Markdown that nests, and characters that cost more than they show. */
const PATTERNS: Readonly<Record<string, string>> = {
  letters: 'a',
  'open links': '[a](b',
  brackets: '[]',
  'open brackets': '[',
  'open images': '![a](',
  emphasis: '*a_',
  'code fences': '`',
  tags: '<a',
  entities: '&#x41;',
  ampersands: '&',
  escapes: '\\*',
  quotes: '"\'',
  'combining marks': '\u0301\u0327',
  'zero width': '\u200b',
  'right to left': '\u202e\u05d0',
  emoji: '👩‍👩‍👧',
  'lone words': 'a b ',
  lines: 'a\n\n',
  spaces: ' ',
};

/** Those that are sent far too long, too: what is refused by its bytes alone is the same whatever it is made of. */
const HUGE_PATTERNS = new Set(['letters', 'open links', 'combining marks']);

/** Those that whole bodies are filled with. */
const FILLING = /open links|emphasis|lines|letters|zero width|smallest|items|no text/;

/** Far above any bound of the interface. */
const HUGE_TEXT = 1_000_000;
const HUGE_LIST = 100_000;
const HUGE_DEPTH = 100_000;

/** The pattern repeated to a number of code points, never in the middle of one. */
function text(pattern: string, length: number): string {
  const points = [...pattern];
  const whole = pattern.repeat(Math.floor(length / points.length));
  return whole + points.slice(0, length % points.length).join('');
}

type Write = (value: unknown) => unknown;
type Sized = readonly [name: string, value: unknown];

function* ofString(form: Schema): Generator<Sized> {
  if (form.format !== undefined || form.enum !== undefined || form.const !== undefined) {
    yield ['huge text', text('a', HUGE_TEXT)];
    return;
  }
  const bound = form.maxLength ?? HUGE_TEXT;
  for (const [name, pattern] of Object.entries(PATTERNS)) {
    yield [`${bound} of ${name}`, text(pattern, bound)];
    if (HUGE_PATTERNS.has(name)) yield [`huge: ${name}`, text(pattern, HUGE_TEXT)];
  }
  yield ['one character too many', text('a', bound + 1)];
  yield ['no text', ''];
}

function* ofList(form: Schema, components: Components, bytes: number): Generator<Sized> {
  const bound = form.maxItems ?? HUGE_LIST;
  for (const wrong of [0, '', null, [], {}]) {
    yield [`${HUGE_LIST} of ${JSON.stringify(wrong)}`, Array(HUGE_LIST).fill(wrong)];
    yield [`${bound} of ${JSON.stringify(wrong)}`, Array(bound).fill(wrong)];
  }
  yield ['nested lists', nested(HUGE_DEPTH)];
  for (const item of formsOf(form.items ?? {}, components)) {
    const value = smallest(item, components);
    yield [`${bound} smallest`, numbered(value, bound)];
    yield [`${bound + 1} smallest`, numbered(value, bound + 1)];
    // As many of the costliest items as the body may hold: what a patient enemy would send.
    for (const [name, heavy] of ofAny(item, components, 0)) {
      if (!FILLING.test(name) || name.includes('huge')) continue;
      const size = Buffer.byteLength(JSON.stringify(heavy) ?? '') + 8;
      const count = Math.min(bound, Math.floor((bytes * 0.95) / size));
      if (count > 1) yield [`${count} × ${name}`, numbered(heavy, count)];
      const few = fewEnough(heavy, bound);
      if (few > 1) yield [`${few} ${JUST_SMALL}: ${name}`, numbered(heavy, few)];
    }
  }
}

/** Name of values that are just small enough for the event loop. */
export const JUST_SMALL = 'just small';

/** As many of the value as leave a document small, which has a little more than these; never more than `bound`. */
function fewEnough(value: unknown, bound: number): number {
  const isFew = (count: number) => areSmall([JSON.stringify(numbered(value, count)) ?? '']);
  const { length } = JSON.stringify(value) ?? '';
  let [fits, not] = [0, Math.min(bound, Math.ceil(LOOP_CHARACTERS / (length + 1))) + 1];
  while (not - fits > 1) {
    const middle = Math.floor((fits + not) / 2);
    if (isFew(middle)) fits = middle;
    else not = middle;
  }
  return Math.floor(fits * 0.95);
}

/** Lists of as many small items as leave the document small, also where the items are lists, such as rows of cells. */
function* ofSmallList(form: Schema, components: Components): Generator<Sized> {
  const bound = form.maxItems ?? HUGE_LIST;
  for (const item of formsOf(form.items ?? {}, components)) {
    const value = smallest(item, components);
    const [cell] = isType(item, 'array') ? formsOf(item.items ?? {}, components) : [];
    for (const each of cell === undefined ? [value] : [value, [smallest(cell, components)]]) {
      const count = fewEnough(each, bound);
      yield [`${count} ${JUST_SMALL}: ${JSON.stringify(each)}`, numbered(each, count)];
    }
  }
}

/** Items with ids of their own, where items have an id. */
const numbered = (value: unknown, count: number): unknown[] =>
  Array.from({ length: count }, (_, index) =>
    typeof value === 'object' && value !== null && 'id' in value
      ? { ...value, id: `b${index}` }
      : typeof value === 'string'
        ? `${value.slice(0, -6)}${index}`
        : value,
  );

/** Lists within lists, as text: JSON.stringify would not get to the bottom of it. */
class Raw {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}
const nested = (depth: number): Raw => new Raw('['.repeat(depth) + ']'.repeat(depth));

function* ofObject(form: Schema, components: Components, bytes: number): Generator<Sized> {
  const base = smallest(form, components) as Record<string, unknown>;
  for (const [name, schema] of Object.entries(form.properties ?? {})) {
    for (const inner of formsOf(schema, components)) {
      for (const [size, value] of ofAny(inner, components, bytes)) {
        const withFormat = typeof value === 'string' && 'format' in (form.properties ?? {});
        yield [`${name}: ${size}`, { ...base, ...(withFormat ? { format: 'markdown' } : {}), [name]: value }];
      }
    }
  }
}

/** Values at and beyond the bounds of a form. `bytes` is the room of a whole body; with 0 lists have few and small items. */
function* ofAny(form: Schema, components: Components, bytes: number): Generator<Sized> {
  if (isType(form, 'string')) yield* ofString(form);
  else if (isType(form, 'array')) {
    yield* bytes > 0 ? ofList(form, components, bytes) : ofSmallList(form, components);
  } else if (isType(form, 'object')) yield* ofObject(form, components, bytes);
  else if (isType(form, 'number') || isType(form, 'integer')) {
    for (const json of ['1e308', '-1', '1e999', '9'.repeat(5_000)]) yield [json.slice(0, 8), new Raw(json)];
  }
}

/** The value as JSON, with the texts that stand for themselves put in. */
function write(value: unknown): Buffer {
  const raws: string[] = [];
  const replacer = ((_: string, inner: unknown) => {
    if (!(inner instanceof Raw)) return inner;
    raws.push(inner.json);
    return `@raw${raws.length - 1}@`;
  }) as (key: string, value: unknown) => ReturnType<Write>;
  const json = JSON.stringify(value, replacer);
  return Buffer.from(json.replaceAll(/"@raw(\d+)@"/g, (_, index) => raws[Number(index)] ?? 'null'));
}

/**
 * Bodies at and beyond every bound of a request's schema: each field with the longest legal and far too long texts of many
 * kinds, the longest lists of small, wrong and heavy items, and bodies that are no object at all.
 *
 * @param bytes what the route takes
 */
export function* sizedBodies(schema: Schema, components: Components, bytes: number): Generator<SizedBody> {
  yield { name: 'nested lists', bytes: Buffer.from(nested(HUGE_DEPTH).json) };
  yield { name: 'nested objects', bytes: Buffer.from('{"a":'.repeat(HUGE_DEPTH)) };
  yield { name: 'spaces', bytes: Buffer.from(`${' '.repeat(bytes - 2)}{}`) };
  yield {
    name: 'many fields',
    bytes: write(Object.fromEntries(Array.from({ length: HUGE_LIST }, (_, i) => [`f${i}`, 0]))),
  };
  for (const form of formsOf(schema, components)) {
    for (const [name, value] of ofAny(form, components, bytes)) yield { name, bytes: write(value) };
  }
}
