import { z } from 'zod';
import { parseResponse } from '../../providers/ask.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import { strictSchema } from '../../providers/strict-schema.ts';
import { RESEARCH_BOUNDS } from '../limits.ts';
import { shortLine } from '../reading/plain-text.ts';
import { speaksToModels } from '../reading/speaks-to-models.ts';
import { MAX_QUERY } from '../search/engine.ts';
import { dataLine, type ResearchRequest, researcher, type Topic } from './shared.ts';

/** Counted up with every change of the words. */
export const QUESTIONS_VERSION = 2;

const MAX_TOKENS = 1_200;
const output = z.object({
  queries: z.array(z.string().describe('Two to ten words, as typed into a search engine.')),
});
const ADDRESS = /:\/\/|\bwww\./i;

/** Asks a model what to search for (contract.md N9). */
export function questionsRequest(topic: Topic, most = RESEARCH_BOUNDS.searches): ResearchRequest {
  const { wishes, audience, keywords } = topic;
  return {
    instructions: researcher(topic, [
      'Find the facts that the article depends on: figures, dates, names, rules, comparisons, and what people commonly get wrong. Write the queries that find them.',
      `At most ${most} queries, the most important first; fewer where fewer find everything. Each asks for one thing, in the words that a good page about it would use, in the language of the article; in English too where most is written in English.`,
      'No addresses, no operators of a search engine, no names of persons unless the customer named them.',
    ]),
    messages: [{ role: 'user', text: dataLine({ topic: topic.topic, wishes, audience, keywords }) }],
    schema: strictSchema(output),
    maxTokens: MAX_TOKENS,
  };
}

/** Each once, of one line, within bounds. */
function usable(queries: readonly string[], most: number): string[] {
  const clean = queries
    .slice(0, most * 4)
    .map((query) => shortLine(query, MAX_QUERY))
    .filter((query) => query !== '' && !ADDRESS.test(query) && speaksToModels(query) === null);
  return [...new Map(clean.map((query) => [query.toLowerCase(), query])).values()].slice(0, most);
}

/** The queries of a response; none when it has none that can be used. */
export function readQuestions(response: ChatResponse, most = RESEARCH_BOUNDS.searches): readonly string[] {
  const parsed = parseResponse(output, response);
  return parsed.ok ? usable(parsed.value.queries, most) : [];
}

/** What is searched for without a model: the topic, then the topic with each keyword. */
export const plainQuestions = (
  { topic, keywords }: Topic,
  most = RESEARCH_BOUNDS.searches,
): readonly string[] =>
  usable([topic, ...keywords, ...keywords.map((keyword) => `${topic} ${keyword}`)], most);
