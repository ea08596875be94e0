/**
 * English answers to a writer's questions: from nothing but the JSON Schema of the answer, or of a text from its task, and
 * what the question says of lengths.
 */
import { type ChatRequest, jsonIn, userTurns } from '../chat-completions.ts';
import { draw } from './draw.ts';
import { gardenSentence } from './garden.ts';
import { researchResponse } from './honest-research.ts';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Wanted {
  /** What makes the sentences of one question others than those of the next. */
  readonly seed: string;
  readonly words: number;
  readonly minSections: number;
  readonly maxSections: number;
}

const WORDS_OF_PARAGRAPH = 40;
const NAMES = ['heading', 'title', 'metaTitle', 'question'];

/** The answer of a writer without bad habits. */
export function honestWriting(question: ChatRequest): unknown {
  const turns = userTurns(question.messages);
  const json = turns.flatMap(jsonIn);
  const wanted = {
    seed: String(draw(turns[0] ?? '')),
    words: numberIn(json, 'words') ?? 120,
    minSections: numberIn(json, 'minSections') ?? 1,
    maxSections: numberIn(json, 'maxSections') ?? 4,
  };
  const schema = question.response_format?.json_schema.schema as Schema | undefined;
  const [property = ''] = Object.keys(schema?.properties ?? {});
  const researched = researchResponse(property, json);
  if (researched !== undefined) return researched;
  if (schema?.properties?.lead !== undefined) return leadOf(json);
  if (schema?.properties?.edits !== undefined) return editsOf(json);
  if (schema?.properties?.images !== undefined) return imagesOf(json, wanted);
  if (schema !== undefined) return answer(schema, '', wanted);
  const paragraphs = Math.max(1, Math.round(wanted.words / WORDS_OF_PARAGRAPH));
  const written = { ...wanted, words: wanted.words / paragraphs };
  if (isAboutSection(json)) {
    return Array.from({ length: paragraphs }, (_, place) => text('text', `.${place}`, written)).join('\n\n');
  }
  return Array.from({ length: 3 }, (_, place) => [
    `### ${text('question', `.question.${place}`, wanted)}`,
    text('answer', `.answer.${place}`, wanted),
  ])
    .flat()
    .join('\n\n');
}

/** The first sentence of the text as its lead, and names without a figure that is not in the text. */
function leadOf(json: readonly unknown[]): unknown {
  const written = json.flatMap((line) => (line as { written?: string } | null)?.written ?? []).join(' ');
  const [first = 'The garden says so.'] = written.match(/[A-Z][^.#*[\]]*\./) ?? [];
  const title = 'What the garden brings';
  return { lead: first, title, slug: 'what-the-garden-brings', metaTitle: title, metaDescription: first };
}

/** Deletes the copies that it is told of. */
function editsOf(json: readonly unknown[]): unknown {
  const copies = json.flatMap(
    (line) =>
      (line as { task?: { found?: { nearCopies?: { block: number }[] } } } | null)?.task?.found?.nearCopies ??
      [],
  );
  return {
    edits: copies.map(({ block }) => ({ block, action: 'delete', text: '', reason: 'Says it again.' })),
  };
}

/** As many images as are asked for, the cover first, the others in the first sections. */
function imagesOf(json: readonly unknown[], wanted: Wanted): unknown {
  const tasks = json.map((line) => (line as { task?: ImagesTask } | null)?.task);
  const {
    imageCount = 0,
    coverStyle,
    sections = [],
  } = tasks.find((task) => task?.imageCount !== undefined) ?? {};
  const places = [...(coverStyle === undefined ? [] : [0]), ...sections].slice(0, imageCount);
  return {
    images: places.map((section) => ({
      section,
      prompt: gardenSentence(`${wanted.seed}.prompt.${section}`, section),
      altText: gardenSentence(`${wanted.seed}.alt.${section}`, section),
      caption: '',
    })),
  };
}

interface ImagesTask {
  readonly imageCount?: number;
  readonly coverStyle?: string;
  readonly sections?: readonly number[];
}

/** Whether a writer is asked for a section, and not for questions. */
export const isAboutSection = (json: readonly unknown[]): boolean =>
  json.some((line) => {
    const task: unknown = (line as { task?: unknown } | null)?.task;
    return typeof task === 'object' && task !== null && 'section' in task;
  });

/** The first number of that name, wherever it stands. */
function numberIn(value: unknown, name: string): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const own = (value as Record<string, unknown>)[name];
  if (typeof own === 'number') return own;
  for (const inner of Object.values(value)) {
    const found = numberIn(inner, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function answer(schema: Schema, path: string, wanted: Wanted): unknown {
  const name =
    path
      .replace(/\.\d+$/, '')
      .split('.')
      .at(-1) ?? '';
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) {
    const paragraph = schema.anyOf.find(({ properties }) => properties?.type?.const === 'paragraph');
    return answer(paragraph ?? schema.anyOf[0] ?? {}, path, wanted);
  }
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, value]) => [
          key,
          answer(value, `${path}.${key}`, wanted),
        ]),
      );
    case 'array':
      return Array.from({ length: lengthOf(name, wanted) }, (_, place) =>
        answer(schema.items ?? {}, `${path}.${place}`, wanted),
      );
    case 'integer':
    case 'number':
      if (name === 'number') return placeOf(path);
      return name === 'level' ? 2 : Math.ceil(wanted.words / lengthOf('sections', wanted));
    case 'boolean':
      return false;
    default:
      return text(name, path, wanted);
  }
}

/** The place, counted from 1, of the item that a path leads into. */
const placeOf = (path: string): number => 1 + Number(/\.(\d+)\.[^.]*$/.exec(path)?.[1] ?? 0);

const lengthOf = (name: string, { words, minSections, maxSections }: Wanted): number =>
  ({
    blocks: Math.max(1, Math.round(words / WORDS_OF_PARAGRAPH)),
    sections: Math.min(Math.max(4, minSections), maxSections),
    questions: 3,
    links: 0,
  })[name] ?? 2;

function text(name: string, path: string, { seed, words }: Wanted): string {
  const number = 2 + Math.floor(draw(seed, path) * 9_000);
  if (name === 'slug') return `the-garden-${number}`;
  if (name === 'keywords') return `garden ${number}`;
  if (NAMES.includes(name)) return `What week ${number} brings`;
  const wanted = name === 'answer' ? words / 4 : Math.min(words, WORDS_OF_PARAGRAPH);
  let prose = gardenSentence(`${seed}${path}`, number);
  for (let sentence = 1; prose.split(' ').length < wanted - 8; sentence += 1) {
    prose += ` ${gardenSentence(`${seed}${path}${sentence}`, number + sentence)}`;
  }
  return prose;
}
