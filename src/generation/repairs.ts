import type { RejectedResponse } from '../providers/ask.ts';
import type { ArticleWriter } from './writing/writer.ts';

interface Asked {
  readonly rejected?: RejectedResponse | undefined;
}

/** What a writer did that is not noted yet. */
export interface Notes {
  /** Calls that it answered. */
  readonly calls: number;
  /** What it was asked to correct, in the words that it was told: for the report of the job. */
  readonly repairs: readonly string[];
}

/**
 * The same writer, watched.
 * @param note called before an answer is asked for again: whatever becomes of that call, the one before it counts
 * @returns also `rest`, which gives what is not noted yet, once
 */
export function observed(
  writer: ArticleWriter,
  note: (notes: Notes) => Promise<void>,
): { writer: ArticleWriter; rest: () => Notes } {
  let calls = 0;
  let repairs: string[] = [];
  const rest = (): Notes => {
    const notes = { calls, repairs };
    calls = 0;
    repairs = [];
    return notes;
  };
  const noting =
    <Question extends Asked, Answer>(ask: (question: Question) => Promise<Answer>) =>
    async (question: Question): Promise<Answer> => {
      if (question.rejected !== undefined) {
        repairs.push(...question.rejected.defects.map(({ problem }) => problem));
        await note(rest());
      }
      const answer = await ask(question);
      calls += 1;
      return answer;
    };
  return {
    writer: {
      ...writer,
      outline: noting((question) => writer.outline(question)),
      section: noting((question) => writer.section(question)),
      faq: noting((question) => writer.faq(question)),
    },
    rest,
  };
}
