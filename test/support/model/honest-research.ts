/** Responses to the questions of research, from nothing but the lines of their data. */

interface Line {
  readonly topic?: string;
  readonly source?: number;
  readonly paragraphs?: readonly string[];
  readonly block?: number;
  readonly text?: string;
  readonly claim?: number;
  readonly passages?: readonly { readonly passage: number }[];
}

const sentencesOf = (text: string): string[] => text.match(/[^.!?]+[.!?]/g)?.map((each) => each.trim()) ?? [];
const isQuotable = (sentence: string): boolean => {
  const words = sentence.split(/\s+/).length;
  return words >= 5 && words <= 38;
};
const CLAIMS = 6;

/** The response, by the property that is asked for; undefined for a question that is not of research. */
export function researchResponse(property: string, json: readonly unknown[]): unknown {
  const lines = json.filter((line): line is Line => typeof line === 'object' && line !== null);
  switch (property) {
    case 'queries':
      return { queries: lines.flatMap(({ topic }) => topic ?? []) };
    case 'notes':
      return {
        notes: lines.flatMap(({ source, paragraphs = [] }) => {
          const [quote] = paragraphs.flatMap(sentencesOf).filter(isQuotable);
          return source === undefined || quote === undefined ? [] : [{ source, quote }];
        }),
      };
    case 'claims':
      return {
        claims: lines
          .flatMap(({ block, text = '' }) => {
            const [sentence] = sentencesOf(text).filter((each) => /\d/.test(each));
            return block === undefined || sentence === undefined ? [] : [{ block, sentence }];
          })
          .slice(0, CLAIMS),
      };
    case 'verdicts':
      return {
        verdicts: lines.flatMap(({ claim, passages = [] }) =>
          claim === undefined ? [] : [{ claim, verdict: 'supported', passage: passages[0]?.passage ?? null }],
        ),
      };
    default:
      return undefined;
  }
}
