/** The Markdown texts of a document, each parsed once however many readers it has. */
import { type ParsedInline, parseText } from './parse.ts';
import { type InlineRun, runsText } from './runs.ts';

/** What was parsed, by text. One per document and piece of work; it is never shared between requests. */
export class ParsedTexts {
  private readonly parsed: Map<string, ParsedInline>;

  /** @param parsed what is parsed already */
  constructor(parsed: Map<string, ParsedInline> = new Map()) {
    this.parsed = parsed;
  }

  /** The parsed form of a `markdown` text. Two occurrences of a text share it, links included. */
  of(markdown: string): ParsedInline {
    const known = this.parsed.get(markdown);
    if (known !== undefined) return known;
    const parsed = parseText(markdown);
    this.parsed.set(markdown, parsed);
    return parsed;
  }

  runs(markdown: string): readonly InlineRun[] {
    return this.of(markdown).runs;
  }

  /** The text as shown: no syntax, no link targets. */
  plain(markdown: string): string {
    return runsText(this.runs(markdown));
  }
}
