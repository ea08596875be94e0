/** Cache of a document's parsed Markdown texts. */
import { type ParsedInline, parseText } from './parse.ts';
import { type InlineRun, runsText } from './runs.ts';

/** Parsed texts by source. One cache per document and task, never shared between requests. */
export class ParsedTexts {
  private readonly parsed = new Map<string, ParsedInline>();

  /** The parsed form of a `markdown` text. Equal texts share it, with their links. */
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
