import { errorMessage } from '../src/error-text.ts';
import type { TokenLimits } from '../src/generation/writing/output-tokens.ts';
import type { ArticleWriters } from '../src/generation/writing/writer.ts';
import { newId } from '../src/ids.ts';
import type { Research } from '../src/research/create.ts';
import type { EvalBrief } from './briefs.ts';
import { type ArticleChecks, checkArticle } from './checks.ts';
import { type RecordedCall, recordCalls } from './record-calls.ts';
import { type Researched, research } from './research.ts';
import { type WrittenArticle, writeArticle } from './write-article.ts';

export interface EvalOptions {
  readonly writers: ArticleWriters;
  readonly limits: TokenLimits;
  /** What each article is researched with; null: from nothing. */
  readonly research: Pick<Research, 'search' | 'readPage'> | null;
  /** The day that prompts name. */
  readonly date: string;
  /** Most calls for one article. */
  readonly maxCalls: number;
  /** When an article is given up. */
  readonly articleMs: number;
  readonly onProgress: (line: string) => void;
}

/** What came of a brief. */
export interface EvalResult {
  readonly brief: EvalBrief;
  readonly calls: readonly RecordedCall[];
  readonly ms: number;
  /** Null when it failed. */
  readonly written: {
    readonly article: WrittenArticle;
    readonly checks: ArticleChecks;
    readonly researched: Researched | null;
  } | null;
  readonly failure: string | null;
}

/** Writes an article from each brief, one after the other. A failed one does not stop the others. */
export async function evaluate(briefs: readonly EvalBrief[], options: EvalOptions): Promise<EvalResult[]> {
  const results: EvalResult[] = [];
  for (const [index, brief] of briefs.entries()) {
    options.onProgress(`${index + 1}/${briefs.length} ${brief.name}`);
    const result = await evaluateOne(brief, options);
    options.onProgress(
      `  ${result.failure ?? `${result.written?.checks.words} words`}, ${result.calls.length} calls`,
    );
    results.push(result);
  }
  return results;
}

async function evaluateOne(brief: EvalBrief, options: EvalOptions): Promise<EvalResult> {
  const { writers, date, articleMs, onProgress } = options;
  const { config } = brief;
  const calls: RecordedCall[] = [];
  const writer = recordCalls(writers[config.writingQuality], {
    ...options,
    onCall: (call) => {
      calls.push(call);
      onProgress(
        `  ${call.kind}: ${Math.round(call.ms)} ms${call.failure === null ? '' : `, ${call.failure}`}`,
      );
    },
  });
  const begun = performance.now();
  const ended = (result: Pick<EvalResult, 'written' | 'failure'>): EvalResult => ({
    brief,
    calls,
    ms: performance.now() - begun,
    ...result,
  });
  const articles = brief.links.map((title) => ({ id: newId(), title }));
  const inputs = { config, title: null, keywords: [], date, voice: null, template: null, notes: [] };
  try {
    const signal = AbortSignal.timeout(articleMs);
    const researched =
      options.research === null ? null : await research(writer, options.research, inputs, signal);
    const noted = { ...inputs, notes: researched?.notes ?? [] };
    const article = await writeArticle(writer, noted, articles, undefined, signal, researched?.sources);
    return ended({ written: { article, checks: checkArticle(article, noted), researched }, failure: null });
  } catch (error) {
    return ended({ written: null, failure: errorMessage(error) });
  }
}
