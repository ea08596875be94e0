/** The user turn: settings, outline, plan and the text so far, each a line of JSON, then the task. */

import type { PartKind } from '../../../db/tables.ts';
import { renderMarkdown } from '../../../document/render/markdown.ts';
import type { ArticleSoFar, WritingBrief } from '../brief.ts';
import { faqHeading } from '../faq-headings.ts';
import type { Plan } from '../plan.ts';
import { bytesOf, fitLine, fitTexts, shorten, type WrittenText } from './fit.ts';
import type { Asking, Prompt } from './shared.ts';

/** Most of the turn for settings, outline and task, where there is too little room for all. */
const SHARES = { settings: 0.3, notes: 0.1, outline: 0.2, task: 0.15 } as const;
/** Most of the turn for notes, where the settings leave it. */
const MOST_NOTES = 0.25;
/** Characters of the longest text among settings, of an outline, and of a task. */
const MAX_SETTING = 8_000;
const MAX_OUTLINE_TEXT = 1_000;
/** Characters of what is left of a text that is summed up. */
const MAX_SUMMARY = 200;
/** Characters in which its first sentence is looked for. */
const MAX_LOOKED_THROUGH = 1_000;

const JSON_ALONE = 'Respond with one JSON object of the given schema and nothing else.';
const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });

/** A value of JSON whose texts have at most so many characters. */
function shortened(value: unknown, limit: number): unknown {
  if (typeof value === 'string') return shorten(value, limit);
  if (Array.isArray(value)) return value.map((each) => shortened(each, limit));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each, limit)]));
}

const fitData = (data: object, bytes: number, most: number): string =>
  fitLine(bytes, most, (limit) => JSON.stringify(limit === most ? data : shortened(data, limit)));

/** Without what is empty, which would only ask for something to be said about it. */
const withoutEmpty = (data: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data).filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)),
  );

/** The settings of the customer. */
const settings = ({ config, title, keywords, voice, template }: WritingBrief): Record<string, unknown> => ({
  topic: config.topic,
  title: title ?? undefined,
  wishes: config.prompt,
  primaryKeyword: config.primaryKeyword,
  secondaryKeywords: config.secondaryKeywords,
  articleKeywords: keywords,
  audience: config.audience,
  tone: config.tone,
  voice: voice ?? undefined,
  template: template ?? undefined,
});

/** The notes of research by number: as many of the first as there is room for; null without any. */
function notesLine({ notes }: WritingBrief, bytes: number): string | null {
  const numbered = notes.map((note, index) => ({
    note: index + 1,
    quote: note.quote,
    page: note.title,
    site: note.site,
    ...(note.published === null ? {} : { published: note.published }),
  }));
  let left = bytes - bytesOf(JSON.stringify({ notes: [] }));
  const fitting = numbered.filter((note) => {
    left -= bytesOf(JSON.stringify(note)) + 1;
    return left >= 0;
  });
  return fitting.length === 0 ? null : JSON.stringify({ notes: fitting });
}

/** The plan as a line: its sections by number, where there is room for them. A section's own stands in its task, too. */
function planLine({ sections, ...plan }: Plan, { outline }: ArticleSoFar, bytes: number): string {
  const numbered = sections.map(({ id, ...section }) => ({
    number: 1 + outline.sections.findIndex((each) => each.id === id),
    ...withoutEmpty(section),
  }));
  const general = withoutEmpty(plan);
  const whole = JSON.stringify({ plan: { ...general, sections: numbered } });
  return bytesOf(whole) <= bytes ? whole : fitData({ plan: general }, bytes, MAX_OUTLINE_TEXT);
}

/** The sections and the questions as they were written. */
function writtenTexts({ outline, finished, faq }: ArticleSoFar, language: string): WrittenText[] {
  // A section that is left out has no blocks.
  const parts = finished
    .map((part, index) => ({ part, heading: outline.sections[index]?.heading ?? '' }))
    .filter(({ part }) => part.blocks.length > 0);
  if (faq !== null) parts.push({ part: faq, heading: faqHeading(language) });
  return parts.map(({ part, heading }) => {
    const written = renderMarkdown({ version: 1, blocks: [...part.blocks] });
    return {
      whole: JSON.stringify({ heading, written }),
      summary: JSON.stringify({ heading, begins: firstSentence(written) }),
      end: (characters) =>
        JSON.stringify({ heading, ends: characters === 0 ? '' : [...written].slice(-characters).join('') }),
    };
  });
}

function firstSentence(text: string): string {
  const [first] = SENTENCES.segment(text.slice(0, MAX_LOOKED_THROUGH));
  return shorten(first?.segment.trim() ?? '', MAX_SUMMARY);
}

/** @param bytes the most that the turn may have */
export function userTurn<Question extends Asking<PartKind>>(
  prompt: Prompt<Question>,
  question: Question,
  bytes: number,
): string {
  const { article, brief } = question;
  const before = [fitData({ settings: withoutEmpty(settings(brief)) }, bytes * SHARES.settings, MAX_SETTING)];
  const room = bytes * (SHARES.settings + SHARES.notes) - bytesOf(before.join('\n'));
  const notes = notesLine(brief, Math.min(room, bytes * MOST_NOTES));
  if (notes !== null) before.push(notes);
  if (article !== null) {
    const sections = article.outline.sections.map(({ heading, level, purpose }, index) => {
      const number = index + 1;
      return { number, heading, level, purpose };
    });
    const outline = { article: brief.title ?? article.outline.title, sections };
    before.push(fitData(outline, bytes * SHARES.outline, MAX_OUTLINE_TEXT));
    if (article.plan !== null) {
      before.push(planLine(article.plan, article, bytes * SHARES.outline));
    }
  }
  const task = [...prompt.task(question), ...(prompt.schema === null ? [] : [JSON_ALONE])].join('\n');
  const data = { task: withoutEmpty(prompt.data(question)) };
  const taskLines = [fitData(data, bytes * SHARES.task - bytesOf(task), MAX_OUTLINE_TEXT), task];
  // The room of the text is the same for all parts of a run: their tasks differ in length.
  const left = bytes * (1 - SHARES.task) - bytesOf(before.join('\n'));
  const texts =
    prompt.lines?.(question) ??
    (article === null ? [] : fitTexts(writtenTexts(article, brief.config.language), left));
  return [...before, ...texts, ...taskLines].join('\n');
}
