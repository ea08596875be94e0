import type { ArticleWriter, Defect } from './writing/writer.ts';

interface Asked {
  readonly rejected?: { readonly defects: readonly Defect[] };
}

/**
 * The same writer, and what it is asked to correct, in the words that it is told: for the report of the job.
 */
export function observed(writer: ArticleWriter): { writer: ArticleWriter; repairs: readonly string[] } {
  const repairs: string[] = [];
  const noting =
    <Question extends Asked, Answer>(ask: (question: Question) => Promise<Answer>) =>
    (question: Question): Promise<Answer> => {
      repairs.push(...(question.rejected?.defects ?? []).map(({ problem }) => problem));
      return ask(question);
    };
  return {
    writer: {
      ...writer,
      outline: noting((question) => writer.outline(question)),
      section: noting((question) => writer.section(question)),
      faq: noting((question) => writer.faq(question)),
    },
    repairs,
  };
}
