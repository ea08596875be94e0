import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatRequest, jsonIn, userTurns } from '../../support/chat-completions.ts';
import { silence } from '../../support/engine-server.ts';
import { type CarelessCharacter, startCarelessModel } from '../../support/model/careless-model.ts';
import { isAboutSection } from '../../support/model/honest-writer.ts';

const KINDS = {
  thesis: 'plan',
  sections: 'outline',
  edits: 'edits',
  lead: 'lead',
  images: 'imagePrompts',
  queries: 'questions',
  notes: 'notes',
  claims: 'claims',
  verdicts: 'verdicts',
} as const;

/** Messages of a first question: the instructions and what is asked. What has to be mended comes after them. */
const FIRST_QUESTION = 2;

/** A question that the model was asked: the same again has the same id. */
export interface AskedQuestion {
  readonly kind: (typeof KINDS)[keyof typeof KINDS] | 'section' | 'faq';
  readonly topic: string;
  /** Of the part of the article that it is about: equal for the first question and for those that have it mended. */
  readonly part: string;
  readonly id: string;
}

/** How often parts were asked for again from their beginning. */
export function partsAskedAgain(asked: readonly AskedQuestion[]): number {
  const times = new Map<string, Map<string, number>>();
  for (const { part, id } of asked) {
    const ofPart = times.get(part) ?? new Map<string, number>();
    times.set(part, ofPart.set(id, (ofPart.get(id) ?? 0) + 1));
  }
  return [...times.values()].reduce((sum, ofPart) => sum + Math.max(...ofPart.values()) - 1, 0);
}

/** A model without bad habits behind the real protocol, for workers that are processes of their own. */
export async function startWritingModel({
  delayMs = 0,
  ...character
}: { delayMs?: number } & Partial<Pick<CarelessCharacter, 'write'>> = {}) {
  const asked: AskedQuestion[] = [];
  const model = await startCarelessModel(character);
  const { answer } = model;
  let answers = Number.POSITIVE_INFINITY;
  model.answer = async (request) => {
    const { messages, response_format } = chatRequest(request);
    const ofText = isAboutSection(userTurns(messages).flatMap(jsonIn)) ? 'section' : 'faq';
    const topic = /"topic":\s*"([^"]*)"/.exec(messages.map(({ content }) => content).join('\n'))?.[1];
    const [ofObject] = Object.keys(response_format?.json_schema.schema.properties ?? {}).flatMap((name) =>
      name in KINDS ? [KINDS[name as keyof typeof KINDS]] : [],
    );
    asked.push({
      kind: ofObject ?? ofText,
      topic: topic ?? '',
      part: hash('sha256', JSON.stringify(messages.slice(0, FIRST_QUESTION))),
      id: hash('sha256', JSON.stringify(messages)),
    });
    if (asked.length > answers) return silence;
    if (delayMs > 0) await sleep(delayMs);
    return answer(request);
  };
  return {
    asked,
    /** Answers so many questions and then no more. */
    hangAfter: (questions: number) => {
      answers = questions;
    },
    /** What makes a worker ask it. */
    env: { GENERATION_PROVIDER: 'openai-compatible', AI_BASE_URL: model.url, AI_MODEL: 'stand-in' },
    close: () => model.close(),
  };
}
