import { leadWords } from '../../config.ts';
import type { OutlineSection } from '../../outline.ts';
import { describeLength, lengthData } from '../lengths.ts';
import { textTokens } from '../output-tokens.ts';
import type { Plan } from '../plan.ts';
import { type Asking, MARKDOWN_ALONE, type Prompt } from './shared.ts';

export interface SectionQuestion extends Asking<'section'> {
  readonly section: OutlineSection;
  /** Its place in the article, counted from 1. */
  readonly number: number;
  /** Words it should have, without its heading. */
  readonly words: number;
  /** Titles of the articles it may link to, named by their position, counted from 1. */
  readonly articles: readonly string[];
}

/** What the article's plan says of the section; undefined where it says nothing. */
const planned = ({ article, section }: SectionQuestion) =>
  article?.plan?.sections.find(({ id }) => id === section.id);

const isFirst = ({ number }: SectionQuestion): boolean => number === 1;
const isLast = ({ article, number }: SectionQuestion): boolean => number === article?.outline.sections.length;

/** True when nothing stands before the section: no lead follows, or the plan has it as the opening. */
const opens = (question: SectionQuestion): boolean =>
  isFirst(question) && (question.article?.plan?.opening === true || leadWords(question.brief.config) === 0);

/** Its keywords by the plan, else by the outline. */
function keywordsOf(question: SectionQuestion): readonly string[] {
  const own = planned(question)?.keywords ?? [];
  return own.length === 0 ? question.section.keywords : own;
}

/** The wishes that the plan has for its place; none without a plan. */
function wishesOf(question: SectionQuestion): readonly string[] {
  const plan = question.article?.plan;
  return [
    ...(opens(question) ? (plan?.openingWishes ?? []) : []),
    ...(planned(question)?.wishes ?? []),
    ...(isLast(question) ? (plan?.endingWishes ?? []) : []),
    ...(plan?.generalWishes ?? []),
  ];
}

/** True when the plan gave the customer's wishes a place, if only some of them. */
const placesWishes = ({ openingWishes, endingWishes, generalWishes, sections }: Plan): boolean =>
  [openingWishes, endingWishes, generalWishes, ...sections.map(({ wishes }) => wishes)].some(
    (wishes) => wishes.length > 0,
  );

function wishRule(question: SectionQuestion): string {
  const plan = question.article?.plan ?? null;
  if (plan === null || !placesWishes(plan)) {
    return 'Meet those of the customer’s wishes that concern this section.';
  }
  return wishesOf(question).length === 0
    ? 'Other sections meet the customer’s wishes.'
    : 'Meet the `wishes` of this task. The customer’s other wishes belong to other sections.';
}

/** What the place of the section asks of it. */
function role(question: SectionQuestion): string[] {
  const { article, brief } = question;
  const roles: string[] = [];
  if (opens(question)) {
    roles.push(
      'This section opens the article. Start with the subject itself: a scene, a figure from the data or a consequence. Then say what the reader will get. Name the primary keyword in the first two sentences.',
    );
  } else if (isFirst(question)) {
    roles.push(
      'This is the first section. A lead is written last and will stand before it: start with the subject of this section and introduce nothing.',
    );
  } else {
    roles.push(
      'Go on from where the text stands. Repeat nothing of it, and refer to it rather than explain it again.',
    );
  }
  if (isLast(question) && brief.config.faq) {
    roles.push('This is the last section, and questions with answers follow it: do not sum up.');
  } else if (isLast(question)) {
    roles.push(
      'This section ends the article: close with the next step, an open question, or a return to the beginning. No summary, no “in conclusion”.',
    );
  } else {
    roles.push('Other sections follow: end with the thought that leads there, and conclude nothing.');
  }
  roles.push(
    article?.plan == null
      ? 'Write what the purpose of this section says and leave the purposes of the others to them.'
      : 'Write what the plan says that this section adds, and leave out what it avoids.',
  );
  const hasWishes = (brief.config.prompt ?? '') !== '' || wishesOf(question).length > 0;
  if (hasWishes) roles.push(wishRule(question));
  return roles;
}

export const sectionPrompt: Prompt<SectionQuestion> = {
  version: 6,
  schema: null,
  tokens: ({ words, brief }) => textTokens(words, brief.config.language),
  data(question) {
    const { brief, section, number, words, articles } = question;
    const { adds, avoids } = planned(question) ?? {};
    return {
      section: { number, heading: section.heading, purpose: section.purpose },
      adds,
      avoids,
      keywords: keywordsOf(question),
      wishes: wishesOf(question),
      headingLevel: section.level + 1,
      ...lengthData(words, brief.config.language),
      articles: articles.map((name, index) => ({ number: index + 1, title: name })),
    };
  },
  task: (question) => [
    ...role(question),
    ...(keywordsOf(question).length === 0
      ? []
      : ['Use the keywords of this task once or twice, where a person would.']),
    'Write mostly paragraphs, and where they help the reader a list, a table, code, or headings of level `headingLevel`. Begin with a paragraph and end with a whole sentence.',
    ...(question.brief.notes.length === 0
      ? []
      : [
          'Where a sentence rests on a note, say it in your own words and put the number of the note in brackets before its full stop, as in “… 20 litres a week [3].” One number is enough, and a sentence of your own has none. Use only numbers of `notes`, in paragraphs, lists and tables; name no page, and write no other sources.',
        ]),
    question.articles.length === 0
      ? 'Write no links.'
      : 'Where it helps the reader, link a few words of a paragraph to one of the listed articles by its number, as in [words](article:3), each article once, in a paragraph without emphasis and without numbers of notes. Write no other links.',
    MARKDOWN_ALONE,
    `Write \`section\` of the task in about ${describeLength(question.words, question.brief.config.language)}. Its heading stands above it already: do not repeat it.`,
  ],
};
