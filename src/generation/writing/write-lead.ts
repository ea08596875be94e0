/** The lead of an article and its names, written last, from the finished text. */
import { MAX_META_DESCRIPTION, MAX_META_TITLE, MAX_TITLE } from '../../document/format/limits.ts';
import type { Block } from '../../document/format/schema.ts';
import { cutAtWord } from '../../document/text/characters.ts';
import { parseResponse } from '../../providers/ask.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import { isUnusable } from '../../providers/types.ts';
import { deliveredWords } from '../delivered.ts';
import { type Outline, slugOf } from '../outline.ts';
import type { ArticleSoFar, Defect, WritingBrief } from './brief.ts';
import { excerpt } from './defects.ts';
import { figuresIn, unsupportedFigures } from './editing/figures.ts';
import { visibleTexts } from './editing/words.ts';
import { languageDefect } from './language.ts';
import { lineDefects } from './line-defects.ts';
import { repetitionKeys } from './markdown/blocks.ts';
import { cutBlocks } from './markdown/cut.ts';
import { readLine } from './markdown/line.ts';
import { readPart } from './markdown/read.ts';
import { leadOutput } from './prompts/lead.ts';
import { requestPart } from './request-part.ts';
import { customersWords, type Said } from './said.ts';
import type { ArticleWriter } from './writer.ts';

/** Never a section's id: those are trimmed. */
export const LEAD_ID = ' lead';

/** The names of an article. */
export type Names = Pick<Outline, 'title' | 'slug' | 'metaTitle' | 'metaDescription'>;

/** The lead and the names as stored; null for what was not wanted, or came in no usable form. */
export interface WrittenLead {
  readonly lead: { readonly blocks: readonly Block[]; readonly words: number } | null;
  readonly names: Names | null;
}

export interface LeadRequest {
  readonly brief: WritingBrief;
  /** The finished text, after the editor's pass. */
  readonly article: ArticleSoFar;
  /** Words of the lead; 0 for none. */
  readonly words: number;
  /** The most words it may have, at least 1 where one is wanted. */
  readonly room: number;
  /** True when the article is to get its names from the text. */
  readonly names: boolean;
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/**
 * Writes the lead and the names (contract.md G83 to G85). What one response lacks is taken from another: a lead without
 * usable names is a lead.
 * @throws {ProviderError} of the writer, or `unusable` when no response had anything usable; the signal's reason when aborted
 */
export async function writeLead(writer: ArticleWriter, request: LeadRequest): Promise<WrittenLead> {
  const { brief, article, words, names, answered, signal } = request;
  const reader = new LeadReader(writer, request);
  try {
    await requestPart<WrittenLead>({
      ask: (rejected) => writer.ask({ kind: 'lead', brief, article, words, names, signal, rejected }),
      check: (response) => {
        const defects = reader.read(response);
        return { value: defects.length === 0 ? reader.written : null, defects };
      },
      answered,
      what: 'the lead',
      signal,
    });
  } catch (error) {
    if (!isUnusable(error) || (reader.written.lead === null && reader.written.names === null)) throw error;
  }
  return reader.written;
}

/** Reads responses one after the other, and keeps what is usable of each. */
class LeadReader {
  written: WrittenLead = { lead: null, names: null };
  private readonly writer: ArticleWriter;
  private readonly request: LeadRequest;
  private readonly own: Said;
  /** What a figure of the lead has to stand in: the text. The names may have those of the customer, too. */
  private readonly figures: { readonly lead: ReadonlySet<string>; readonly names: ReadonlySet<string> };

  constructor(writer: ArticleWriter, request: LeadRequest) {
    this.writer = writer;
    this.request = request;
    const { brief, article } = request;
    this.own = customersWords(brief, article.outline);
    const headings = article.outline.sections.map(({ heading }) => heading);
    const parts = [...article.finished, ...(article.faq === null ? [] : [article.faq])];
    const text = [...headings, ...parts.flatMap(({ blocks }) => visibleTexts(blocks))];
    this.figures = { lead: figuresIn(text), names: figuresIn([...text, this.own.said]) };
  }

  /** @returns what is wrong with the response; nothing once all that is wanted is there */
  read(response: ChatResponse): Defect[] {
    const parsed = parseResponse(leadOutput, response);
    if (!parsed.ok) return [...parsed.defects];
    const { lead, ...names } = parsed.value;
    const defects: Defect[] = [];
    if (this.request.words > 0 && this.written.lead === null) defects.push(...this.readLead(lead));
    if (this.request.names && this.written.names === null) defects.push(...this.readNames(names));
    return defects;
  }

  private readLead(text: string): Defect[] {
    const { brief, article, room } = this.request;
    const rules = {
      ...this.own,
      section: { id: LEAD_ID, heading: article.outline.title, level: 1 },
      articles: [],
      earlier: new Set(article.finished.flatMap(({ blocks }) => repetitionKeys(blocks))),
    };
    const { blocks: read, defects } = readPart(text, rules);
    const paragraphs = read.filter(({ type }) => type === 'paragraph');
    const foreign = languageDefect(this.writer, paragraphs, brief.config.language);
    if (defects.length > 0 || foreign !== null) return [...defects, ...(foreign === null ? [] : [foreign])];
    if (deliveredWords(paragraphs) === 0) return [{ code: 'empty', problem: 'lead: It has no sentence.' }];
    const figures = unsupportedFigures(paragraphs, this.figures.lead).map(({ figure }) => figure);
    if (figures.length > 0) {
      const problem = 'lead: It has figures that are not in the text. Write it without them.';
      return [excerpt('figure', problem, figures.join(', '))];
    }
    const blocks = cutBlocks(paragraphs, room).map((block, index) => ({ ...block, id: `lead-${index + 1}` }));
    this.written = { ...this.written, lead: { blocks, words: deliveredWords(blocks) } };
    return [];
  }

  private readNames(given: Names): Defect[] {
    const defects: Defect[] = [];
    const rules = { writer: this.writer, language: this.request.brief.config.language, said: this.own.said };
    const line = (name: Exclude<keyof Names, 'slug'>, most: number): string => {
      const text = readLine(given[name], this.own.addresses);
      defects.push(...lineDefects(name, text, rules));
      const shown: Block = { id: name, type: 'paragraph', text };
      if (unsupportedFigures([shown], this.figures.names).length > 0) {
        defects.push(excerpt('figure', `${name}: It has a figure that is not in the text.`, text));
      }
      return cutAtWord(text, most);
    };
    const title = line('title', MAX_TITLE);
    const names = {
      title,
      slug: slugOf(given.slug, title),
      metaTitle: line('metaTitle', MAX_META_TITLE),
      metaDescription: line('metaDescription', MAX_META_DESCRIPTION),
    };
    if (defects.length === 0) this.written = { ...this.written, names };
    return defects;
  }
}
