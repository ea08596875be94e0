import { MAX_META_DESCRIPTION, MAX_META_TITLE, MAX_TITLE } from '../../document/format/limits.ts';
import { cutAtWord } from '../../document/text/characters.ts';
import { codePoints } from '../../fields.ts';
import { type Checked, parseResponse } from '../../providers/ask.ts';
import { bodyWords } from '../config.ts';
import {
  describeBounds,
  MAX_ESTIMATED_WORDS,
  MIN_ESTIMATED_WORDS,
  type Outline,
  outlineSchema,
  type SectionBounds,
  sectionBounds,
  slugOf,
} from '../outline.ts';
import { scaleLengths } from '../target-lengths.ts';
import type { Defect } from './brief.ts';
import { excerpt } from './defects.ts';
import { withoutFaq } from './faq-headings.ts';
import { lineDefects } from './line-defects.ts';
import { bare } from './markdown/blocks.ts';
import { openingLength } from './markdown/chatter.ts';
import { readLine } from './markdown/line.ts';
import { type OutlineOutput, outlineOutput } from './model-output.ts';
import { fitSections, MAX_PLANNED_HEADING } from './outline-bounds.ts';
import { requestPart } from './request-part.ts';
import { customersWords, type Said } from './said.ts';
import type { ArticleWriter, OutlineRequest } from './writer.ts';

/**
 * Plans an article (contract.md G42): requests an outline, checks every bound, and sends exact defects back, in at most
 * three calls. Assigns section ids; the sections' words add up to those of the body.
 * @throws {ProviderError} of the writer, or `unusable` with a message for customers when no output was usable; the signal's
 *   reason when aborted
 */
export async function planOutline(
  writer: ArticleWriter,
  { brief, answered, signal }: OutlineRequest,
): Promise<Outline> {
  const words = bodyWords(brief.config);
  const bounds = sectionBounds(words);
  const { value } = await requestPart<Outline>({
    ask: (rejected) =>
      writer.ask({
        kind: 'outline',
        brief,
        article: null,
        words,
        sections: bounds,
        signal,
        rejected,
      }),
    check: (response) => {
      const parsed = parseResponse(outlineOutput, response);
      if (!parsed.ok) return { value: null, defects: parsed.defects };
      const reader = new OutlineReader(customersWords(brief), writer, brief.config.language);
      return reader.read(parsed.value, { words, bounds, faq: brief.config.faq });
    },
    answered,
    what: 'the outline',
    signal,
  });
  return value;
}

/** Requirements of the body. */
interface Wanted {
  readonly words: number;
  readonly bounds: SectionBounds;
  /** True when a FAQ follows. */
  readonly faq: boolean;
}

class OutlineReader {
  private readonly defects: Defect[] = [];
  private readonly own: Said;
  private readonly writer: ArticleWriter;
  private readonly language: string;

  constructor(own: Said, writer: ArticleWriter, language: string) {
    this.own = own;
    this.writer = writer;
    this.language = language;
  }

  read(output: OutlineOutput, wanted: Wanted): Checked<Outline, Defect> {
    const title = this.shown('title', output.title, MAX_TITLE);
    const metaTitle = this.shown('metaTitle', output.metaTitle, MAX_META_TITLE);
    const metaDescription = this.shown('metaDescription', output.metaDescription, MAX_META_DESCRIPTION);
    const sections = fitSections(this.sections(output, wanted), wanted.words);
    const outline = { title, slug: slugOf(output.slug, title), metaTitle, metaDescription, sections };
    const parsed = outlineSchema.safeParse(outline);
    const isUsable = parsed.success && this.defects.every(({ soft }) => soft);
    return { value: isUsable ? parsed.data : null, defects: this.defects };
  }

  private sections(output: OutlineOutput, { words, bounds, faq }: Wanted): Outline['sections'] {
    const wanted = faq ? withoutFaq(output.sections) : output.sections;
    if (wanted.length < bounds.least || wanted.length > bounds.most) {
      this.add({
        code: 'shape',
        problem: `There are ${wanted.length} sections. There should be ${describeBounds(bounds)}.`,
      });
      return [];
    }
    const seen = new Set<string>();
    const shares = wanted.map(({ estimatedWords }) => ({ estimatedWords: Math.max(1, estimatedWords) }));
    const lengths = scaleLengths(shares, words);
    return wanted.map(({ heading, level, purpose, keywords }, index) => {
      const name = `sections.${index}`;
      const text = cutAtWord(this.text(`${name}.heading`, heading), MAX_PLANNED_HEADING);
      if (seen.has(bare(text)))
        this.add(excerpt('repeated', `${name}.heading: Another section has this heading.`, text));
      seen.add(bare(text));
      return {
        id: `section-${index + 1}`,
        heading: text,
        // The first section has no section of level 2 above it.
        level: index > 0 && level >= 3 ? 3 : 2,
        purpose: this.text(`${name}.purpose`, purpose),
        // Keywords are only hints for the writer.
        keywords: [...new Set(keywords.map((keyword) => readLine(keyword, this.own.addresses)))].filter(
          Boolean,
        ),
        estimatedWords: Math.min(Math.max(lengths[index] ?? 0, MIN_ESTIMATED_WORDS), MAX_ESTIMATED_WORDS),
      };
    });
  }

  /** A text that is shown. One that is too long is a soft defect: repaired once, then cut at a word. */
  private shown(name: string, raw: string, max: number): string {
    const text = this.text(name, raw);
    const length = codePoints(text);
    if (length <= max) return text;
    const problem = `${name}: It has ${length} characters. It should have at most ${max}.`;
    this.add({ ...excerpt('length', problem, text), soft: true });
    return cutAtWord(text, max);
  }

  /** The plain text, mended. */
  private text(name: string, raw: string): string {
    const line = readLine(raw, this.own.addresses);
    const text = line.slice(openingLength(line, this.own.said));
    const { writer, language, own } = this;
    for (const defect of lineDefects(name, text, { writer, language, said: own.said })) this.add(defect);
    return text;
  }

  private add(defect: Defect): void {
    this.defects.push(defect);
  }
}
