import type { RejectedResponse } from '../providers/ask.ts';
import type { ArticleWriter } from './writing/writer.ts';

interface Repairable {
  readonly rejected?: RejectedResponse | undefined;
}

/** Calls of a writer that are not stored yet. */
export interface CallNotes {
  /** Calls with a response. */
  readonly calls: number;
  /** Problems named in repair requests, for the job's report. */
  readonly repairs: readonly string[];
}

/**
 * Wraps a writer and counts its calls.
 * @param note called before each repair, so that earlier calls count whatever happens to this one
 * @returns the wrapped writer; `rest` returns the calls since the last note, and resets them
 */
export function observeWriter(
  writer: ArticleWriter,
  note: (notes: CallNotes) => Promise<void>,
): { writer: ArticleWriter; rest: () => CallNotes } {
  let calls = 0;
  let repairs: string[] = [];
  const rest = (): CallNotes => {
    const notes = { calls, repairs };
    calls = 0;
    repairs = [];
    return notes;
  };
  const noting =
    <Question extends Repairable, Response>(call: (question: Question) => Promise<Response>) =>
    async (question: Question): Promise<Response> => {
      if (question.rejected !== undefined) {
        repairs.push(...question.rejected.defects.map(({ problem }) => problem));
        await note(rest());
      }
      const response = await call(question);
      calls += 1;
      return response;
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
