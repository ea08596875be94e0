import { countTextWords } from '../../document/format/words.ts';
import { firstCodePoints } from '../../document/text/characters.ts';
import { withoutReferences } from '../../document/text/note-references.ts';
import { languageName } from '../../language-names.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import { tidy } from './markdown/bound.ts';
import type { OutlineOutput } from './model-output.ts';
import { placeImages } from './place-images.ts';
import type { PlanOutput } from './plan.ts';
import type { EditsOutput } from './prompts/edits.ts';
import type { ImagePromptsOutput } from './prompts/image-prompts.ts';
import type { Question, QuestionOf } from './prompts/index.ts';
import type { LeadOutput } from './prompts/lead.ts';
import { claimsOf, correctionsOf, notesOf, questionsFor, sentenceOf, verdictsOf } from './pseudo-research.ts';
import type { ArticleWriter } from './writer.ts';

/** Planned words of a section and of a paragraph. */
const WORDS_PER_SECTION = 200;
const WORDS_PER_PARAGRAPH = 90;
const MAX_PLANNED_SECTIONS = 9;
/** Fewest words of a section with a list, and with a heading of its own. */
const LIST_FROM = 150;
const HEADING_FROM = 400;
/** Words of a customer's text that are quoted. */
const QUOTED_WORDS = 8;
const QUESTIONS = 3;
/** Notes that a section quotes, at most one in a paragraph. */
const QUOTED_NOTES = 3;
/** How texts begin, and one that was edited: both have as many words. */
const OPENING = 'This is pseudo text in place of';
const EDITED_OPENING = 'This is edited pseudo text instead of';

const HEADINGS = [
  'What {topic} is about',
  'Why {topic} matters',
  'A first look at {topic}',
  'How to begin with {topic}',
  'Choosing well',
  'Common mistakes',
  'What it costs',
  'Keeping it going',
  'Where to go from here',
];

const SENTENCES = [
  'It stands where a model would write about {heading}.',
  'A reader would learn here what matters about {topic}.',
  'No fact in it was checked, because it states none.',
  'Its length was planned, and so it goes on for a while.',
  'The same settings give the same words the next time.',
  'With {keyword} in mind, one thought follows another.',
  'What comes next depends on the outline alone.',
  'Nothing in it was read anywhere, and nothing in it was made up.',
];

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/**
 * The offline default without a model: English sentences of exactly the requested length, whatever the language, marked as
 * pseudo text. Deterministic.
 */
export const createPseudoWriter = (): ArticleWriter => ({
  name: 'pseudo',
  model: 'pseudo',
  contextTokens: Number.POSITIVE_INFINITY,
  async ask(question) {
    question.signal.throwIfAborted();
    return respond(question);
  },
});

/** Its responses by kind of part: an object, or the blocks of a text. */
const RESPONSES: {
  readonly [Kind in Question['kind']]: (question: QuestionOf<Kind>) => object | readonly string[];
} = {
  outline: outlineFor,
  plan: planFor,
  questions: questionsFor,
  notes: notesOf,
  section: sectionOf,
  faq: faqOf,
  edits: editsOf,
  claims: claimsOf,
  verdicts: verdictsOf,
  corrections: correctionsOf,
  lead: leadOf,
  imagePrompts: imagePromptsFor,
};

function respond(question: Question): ChatResponse {
  const write = RESPONSES[question.kind] as (question: Question) => object | readonly string[];
  const written = write(question);
  return Array.isArray(written)
    ? { object: null, text: written.join('\n\n'), truncated: false }
    : { object: { ...written }, truncated: false };
}

function outlineFor({ brief, words, sections: { least, most } }: QuestionOf<'outline'>): OutlineOutput {
  const { config } = brief;
  const topic = plainWords(config.topic, 'this topic');
  const planned = Math.min(Math.round(words / WORDS_PER_SECTION), MAX_PLANNED_SECTIONS);
  const count = Math.min(Math.max(planned, least), most);
  const sections = HEADINGS.slice(0, count).map((heading, index) => ({
    heading: fill(heading, { topic }),
    level: index % 3 === 2 ? 3 : 2,
    purpose: `Pseudo text in ${languageName(config.language)}: part ${index + 1} about ${topic}.`,
    keywords: config.secondaryKeywords.slice(0, 2),
    estimatedWords: Math.round(words / count),
  }));
  return { ...outlineNames(topic), sections };
}

function outlineNames(topic: string): Omit<OutlineOutput, 'sections'> {
  const title = `Pseudo article about ${topic}`;
  const metaDescription = `A pseudo text about ${topic}, written without a model.`;
  return { title, slug: '', metaTitle: title, metaDescription };
}

/** A plan that leaves everything as the outline has it. */
function planFor({ brief, article }: QuestionOf<'plan'>): PlanOutput {
  const { config } = brief;
  const topic = plainWords(config.topic, 'this topic');
  return {
    reader: plainWords(config.audience ?? '', 'Readers of pseudo text'),
    question: `What is ${topic}?`,
    thesis: `A pseudo plan about ${topic}, made without a model.`,
    promise: brief.title ?? article?.outline.title ?? topic,
    opening: false,
    sections: (article?.outline.sections ?? []).map(({ purpose, keywords }, index) => ({
      number: index + 1,
      adds: purpose,
      avoids: '',
      keywords: [...keywords],
      wishes: [],
    })),
    openingWishes: [],
    endingWishes: [],
    generalWishes: [],
  };
}

/** The blocks of a section, as Markdown. */
function sectionOf({ brief, section, number, words, articles }: QuestionOf<'section'>): string[] {
  const heading = plainWords(section.heading, 'this section');
  const source = sentencesAbout({
    heading,
    topic: plainWords(brief.config.topic, 'this topic'),
    keyword: plainWords(section.keywords[0] ?? brief.config.primaryKeyword ?? '', heading),
  });
  const linked = plainWords(articles[0] ?? '', '');
  const items = words >= LIST_FROM && number % 2 === 0 ? itemsOf(number) : [];
  const below = words >= HEADING_FROM ? [`More about ${heading}`] : [];
  const left = words - countTextWords([...items, ...below].join('\n'));
  const lengths = evenly(left, Math.max(1, Math.ceil(left / WORDS_PER_PARAGRAPH)));
  // Each section quotes notes of its own.
  const quotedFrom = 1 + (number - 1) * QUOTED_NOTES;
  const paragraphs = lengths.map((length, index) => {
    const place = `paragraph ${inWords(index + 1)} of section ${inWords(number)}`;
    const long = `${OPENING} ${languageOf(brief.config.language)}, ${place}.`;
    const see = `${long} See also ${linked} for more.`;
    const quoted = index < QUOTED_NOTES ? sentenceOf(brief.notes, quotedFrom + index) : null;
    const openings = [
      ...(linked !== '' && index === 0 ? [see] : []),
      ...(quoted === null || (linked !== '' && index === 0) ? [] : [`${long} ${quoted}`]),
      long,
      `Pseudo text, ${place}.`,
    ];
    const text = exactly(length, openings, source, number);
    const link = `${long} See also [${linked}](article:1) for more.`;
    return linked !== '' && text.startsWith(see) ? link + text.slice(see.length) : text;
  });
  const list = items.length === 0 ? [] : [items.map((item) => `- ${item}`).join('\n')];
  const middle = Math.ceil(paragraphs.length / 2);
  return [
    ...paragraphs.slice(0, 1),
    ...list,
    ...paragraphs.slice(1, middle),
    ...below.map((text) => `${'#'.repeat(section.level + 1)} ${text}`),
    ...paragraphs.slice(Math.max(1, middle)),
  ];
}

const itemsOf = (section: number): string[] =>
  [1, 2, 3].map((point) => `Pseudo point ${inWords(point)} of section ${inWords(section)}`);

function faqOf({ brief, words }: QuestionOf<'faq'>): string[] {
  const topic = plainWords(brief.config.topic, 'this topic');
  const source = sentencesAbout({ heading: 'the questions', topic, keyword: topic });
  const titles = Array.from(
    { length: QUESTIONS },
    (_, index) => `What is pseudo question ${inWords(index + 1)} about ${topic}?`,
  );
  const lengths = evenly(Math.max(QUESTIONS, words - countTextWords(titles.join('\n'))), QUESTIONS);
  return titles.flatMap((question, index) => {
    const opening = `${OPENING} ${languageOf(brief.config.language)}, answer ${inWords(index + 1)}.`;
    return [`### ${question}`, exactly(lengths[index] ?? 0, [opening], source, index + 1)];
  });
}

/** One edit that changes no length, where a text says that it is pseudo text. */
function editsOf({ draft }: QuestionOf<'edits'>): EditsOutput {
  const blocks = draft.flatMap((part) => part.blocks);
  const [edited] = blocks.flatMap(({ number, text }) =>
    number !== undefined && text.startsWith(OPENING) ? [{ number, text }] : [],
  );
  if (edited === undefined) return { edits: [] };
  const text = EDITED_OPENING + edited.text.slice(OPENING.length);
  const reason = 'A pseudo edit, made without a model, changes no meaning.';
  return { edits: [{ block: edited.number, action: 'replace', text, reason }] };
}

/** A lead of exactly the requested length, and the names that the outline has. */
function leadOf({ brief, article, words }: QuestionOf<'lead'>): LeadOutput {
  const topic = plainWords(brief.config.topic, 'this topic');
  const source = sentencesAbout({ heading: topic, topic, keyword: topic });
  const opening = `This is a pseudo lead in place of ${languageOf(brief.config.language)}.`;
  const { title, slug, metaTitle, metaDescription } = article?.outline ?? outlineNames(topic);
  const lead = words === 0 ? '' : exactly(words, [opening], source, 1);
  return { lead, title, slug, metaTitle, metaDescription };
}

/** One image for each place, by the heading above it. */
function imagePromptsFor({
  brief,
  article,
  images,
  sections,
}: QuestionOf<'imagePrompts'>): ImagePromptsOutput {
  const topic = plainWords(brief.config.topic, 'this topic');
  const image = (section: number, heading: string) => ({
    section,
    prompt: `A pseudo picture of ${heading}, in an article about ${topic}.`,
    altText: `A placeholder for a picture of ${heading}`,
    caption: section === 0 ? '' : `A pseudo caption about ${heading}.`,
  });
  const inline = placeImages(sections.length, images.inline).map((position) => {
    const number = sections[position] ?? 0;
    return image(number, plainWords(article?.outline.sections[number - 1]?.heading ?? '', topic));
  });
  return { images: [...(images.cover ? [image(0, topic)] : []), ...inline] };
}

/** Repeats the sentences endlessly. */
function sentencesAbout(names: Readonly<Record<string, string>>): () => string {
  const sentences = SENTENCES.map((sentence) => fill(sentence, names));
  let next = 0;
  return () => {
    next += 1;
    return sentences[(next - 1) % sentences.length] ?? '';
  };
}

/**
 * A text of exactly this many words: the first of the openings that fits, then sentences, then numbers.
 * @param openings the longest first
 * @param number tells it from others of the same length
 */
function exactly(words: number, openings: readonly string[], next: () => string, number: number): string {
  const opening = openings.find((text) => countTextWords(withoutReferences(text)) <= words);
  const sentences = opening === undefined ? [] : [opening];
  let left = words - countTextWords(withoutReferences(opening ?? ''));
  for (let sentence = next(); countTextWords(sentence) <= left; sentence = next()) {
    sentences.push(sentence);
    left -= countTextWords(sentence);
  }
  if (left > 0 || opening === undefined) sentences.push(rest(Math.max(1, left), number));
  return sentences.join(' ');
}

/** A sentence of exactly this many words, mostly numbers. */
function rest(words: number, number: number): string {
  const beginning = ['Pseudo', 'words', inWords(number)].slice(0, words);
  const numbers = Array.from(
    { length: words - beginning.length },
    (_, index) => DIGITS[index % DIGITS.length],
  );
  return `${[...beginning, ...numbers].join(' ')}.`;
}

/** A number digit by digit: a figure in pseudo text would be one that no source has (contract.md N27). */
const inWords = (number: number): string => [...`${number}`].map((digit) => DIGITS[Number(digit)]).join('-');

/** Splits `total` into `count` integers that differ by at most one. */
const evenly = (total: number, count: number): number[] =>
  Array.from(
    { length: count },
    (_, index) => Math.floor((total * (index + 1)) / count) - Math.floor((total * index) / count),
  );

const fill = (text: string, names: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '');

const languageOf = (tag: string): string => plainWords(languageName(tag), tag);

/** The first words of a customer's text, letters and digits only, so without Markdown and addresses. */
function plainWords(text: string, otherwise: string): string {
  const words = tidy(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const quoted = firstCodePoints(words.slice(0, QUOTED_WORDS).join(' '), 100).trim();
  return quoted === '' ? otherwise : quoted;
}
