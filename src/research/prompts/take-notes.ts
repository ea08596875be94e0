import { z } from 'zod';
import { parseResponse } from '../../providers/ask.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import { strictSchema } from '../../providers/strict-schema.ts';
import { indexPassages } from '../claims/passages.ts';
import { MAX_NOTES_OF_SOURCE, MAX_QUOTE_WORDS } from '../limits.ts';
import type { ProposedNote } from '../notes/check-notes.ts';
import type { SourceText } from '../notes/note.ts';
import { dataLine, type ResearchRequest, researcher, type Topic } from './shared.ts';

/** Counted up with every change of the words. */
export const NOTES_VERSION = 1;

const MAX_TOKENS = 4_000;
/** Passages that are ranked for an excerpt. */
const MAX_PASSAGES = 200;

const output = z.object({
  notes: z.array(
    z.object({
      source: z.int().describe('The number of the source.'),
      quote: z.string().describe('Words of its text, copied exactly.'),
    }),
  ),
});

/**
 * The passages of a source nearest to what the article is about, in the order of the text.
 * @param characters the most that it may have
 */
async function excerptOf(
  source: SourceText,
  query: string,
  language: string,
  characters: number,
): Promise<string[]> {
  if (source.text.length <= characters) return source.text.split('\n\n');
  const index = await indexPassages([source], language);
  const chosen = new Set<string>();
  let left = characters;
  for (const { text } of index.best(query, MAX_PASSAGES)) {
    if (text.length > left) break;
    chosen.add(text);
    left -= text.length;
  }
  const nearest = [...chosen].map((text) => ({ text, at: source.text.indexOf(text) }));
  return nearest.sort((a, b) => a.at - b.at).map(({ text }) => text);
}

/**
 * Asks a model for quotes of sources that the article can rest on (contract.md N8).
 * @param sources in the order of their numbers, which begin at 1; one a request or several
 * @param characters of all sources together; of a longer one what is nearest to the topic and the questions is shown
 */
export async function notesRequest(
  topic: Topic,
  questions: readonly string[],
  sources: readonly SourceText[],
  characters: number,
): Promise<ResearchRequest> {
  const { wishes, audience, keywords, language } = topic;
  const query = [topic.topic, ...keywords, ...questions].join('\n');
  const each = Math.floor(characters / Math.max(1, sources.length));
  const lines: string[] = [dataLine({ topic: topic.topic, wishes, audience, keywords, questions })];
  for (const [at, source] of sources.entries()) {
    const paragraphs = await excerptOf(source, query, language, each);
    lines.push(dataLine({ source: at + 1, title: source.title, paragraphs }));
  }
  return {
    instructions: researcher(topic, [
      `Copy from the sources the sentences or parts of sentences that the article can rest on: facts with figures, dates, names, conditions and reasons. At most ${MAX_NOTES_OF_SOURCE} of each source, none where a source says nothing that matters.`,
      `A quote has at most ${MAX_QUOTE_WORDS} words and stands exactly so within one paragraph: no word changed, left out or added, no dots in place of words, in the language of the source. It says by itself what it is about.`,
      'Where sources contradict each other, quote both. No advertising, no opinions without a reason, no addresses.',
    ]),
    messages: [{ role: 'user', text: lines.join('\n') }],
    schema: strictSchema(output),
    maxTokens: MAX_TOKENS,
  };
}

/** The proposals of a response, unchecked: see `checkNotes`. */
export function readProposedNotes(response: ChatResponse): readonly ProposedNote[] {
  const parsed = parseResponse(output, response);
  return parsed.ok ? parsed.value.notes : [];
}
