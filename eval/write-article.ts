import type { DocumentJson } from '../src/document/format/schema.ts';
import { assignArticles } from '../src/generation/linkable/assign.ts';
import type { Outline } from '../src/generation/outline.ts';
import { assembleBody } from '../src/generation/writing/assemble.ts';
import type { LinkableArticle, WritingBrief, WrittenPart } from '../src/generation/writing/brief.ts';
import { planOutline } from '../src/generation/writing/plan-outline.ts';
import { writeFaq } from '../src/generation/writing/write-faq.ts';
import { writeSection } from '../src/generation/writing/write-section.ts';
import type { ArticleWriter } from '../src/generation/writing/writer.ts';

export interface WrittenArticle {
  readonly outline: Outline;
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
  const assigned = assignArticles(outline, articles);
  const parts: WrittenPart[] = [];
  for (const [index, { id }] of outline.sections.entries()) {
    const told = assigned.filter(({ section }) => section === id);
    const request = { brief, outline, index, finished: [...parts], articles: told, signal };
    parts.push(await writeSection(writer, request));
  }
  const { language, faq: wantsFaq } = brief.config;
  const faq = wantsFaq ? await writeFaq(writer, { brief, outline, finished: parts, signal }) : null;
  const document = assembleBody(outline, parts, faq === null ? null : { language, part: faq });
  return { outline, parts, faq, document };
}
