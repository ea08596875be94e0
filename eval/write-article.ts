import type { DocumentJson } from '../src/document/format/schema.ts';
import { articlesFor } from '../src/generation/linkable/assign.ts';
import type { Outline } from '../src/generation/outline.ts';
import { assembleBody } from '../src/generation/writing/assemble.ts';
import type { LinkableArticle, WritingBrief, WrittenPart } from '../src/generation/writing/brief.ts';
import { makePlan } from '../src/generation/writing/make-plan.ts';
import type { Plan } from '../src/generation/writing/plan.ts';
import { planOutline } from '../src/generation/writing/plan-outline.ts';
import { writeFaq } from '../src/generation/writing/write-faq.ts';
import { writeSection } from '../src/generation/writing/write-section.ts';
import type { ArticleWriter } from '../src/generation/writing/writer.ts';
import { ProviderError } from '../src/providers/types.ts';

export interface WrittenArticle {
  readonly outline: Outline;
  readonly plan: Plan | null;
  readonly parts: readonly WrittenPart[];
  readonly faq: WrittenPart | null;
  readonly document: DocumentJson;
}

/**
 * Writes an article with the steps of a run, without a database.
 * @param given the outline; without one the article is planned first
 */
export async function writeArticle(
  writer: ArticleWriter,
  brief: WritingBrief,
  articles: readonly LinkableArticle[] = [],
  given?: Outline,
  signal: AbortSignal = new AbortController().signal,
): Promise<WrittenArticle> {
  const outline = given ?? (await planOutline(writer, { brief, signal }));
  const plan = await makePlan(writer, { brief, outline, signal }).catch((error: unknown) => {
    if (error instanceof ProviderError && error.kind === 'unusable') return null;
    throw error;
  });
  const parts: WrittenPart[] = [];
  for (const index of outline.sections.keys()) {
    const finished = [...parts];
    const told = articlesFor(outline, { index, finished }, articles);
    const request = { brief, outline, plan, index, finished, articles: told, signal };
    parts.push(await writeSection(writer, request));
  }
  const { language } = brief.config;
  const faq = brief.config.faq
    ? await writeFaq(writer, { brief, outline, plan, finished: parts, signal })
    : null;
  const document = assembleBody(outline, parts, faq === null ? null : { language, part: faq });
  return { outline, plan, parts, faq, document };
}
