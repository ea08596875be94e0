/** The images of an article: where each stands and what it shows, in one call for all. */
import type { ImageStyle } from '../../db/tables.ts';
import { type Block, MAX_ALT_TEXT } from '../../document/format/schema.ts';
import { cutAtWord } from '../../document/text/characters.ts';
import { type Checked, parseResponse } from '../../providers/ask.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import { MAX_IMAGES } from '../config.ts';
import type { ArticleSoFar, Defect, WritingBrief } from './brief.ts';
import { figuresIn, unsupportedFigures } from './editing/figures.ts';
import { visibleTexts } from './editing/words.ts';
import { lineDefects } from './line-defects.ts';
import { readLine } from './markdown/line.ts';
import { settlePlaces } from './place-images.ts';
import { type ImagePromptsOutput, imagePromptsOutput, type WantedImages } from './prompts/image-prompts.ts';
import { requestPart } from './request-part.ts';
import { customersWords } from './said.ts';
import type { ArticleWriter } from './writer.ts';

/** An image to draw, and its texts. */
export interface ImagePrompt {
  readonly role: 'hero' | 'inline';
  /** The section of the outline that it stands in; null for the cover. */
  readonly sectionId: string | null;
  readonly style: ImageStyle;
  /** What is to be seen, in English, for an image model; at most `MAX_IMAGE_PROMPT` characters. */
  readonly prompt: string;
  /** In the language of the article, plain text, at most `MAX_ALT_TEXT` characters; never empty. */
  readonly altText: string;
  /** In the language of the article, plain text; null for none. */
  readonly caption: string | null;
}

export interface ImagePromptsRequest {
  readonly brief: WritingBrief;
  /** The finished text, after the editor's pass. */
  readonly article: ArticleSoFar;
  readonly images: WantedImages;
  readonly styles: Readonly<Record<ImagePrompt['role'], ImageStyle>>;
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/** Characters of a prompt, and of a caption. */
export const MAX_IMAGE_PROMPT = 1_500;
const MAX_CAPTION = 300;

/** Images of a response that are read. */
const MAX_READ = 2 * MAX_IMAGES;

/** What a response says of one image, mended. */
interface ReadImage extends Pick<ImagePrompt, 'prompt' | 'altText' | 'caption'> {
  /** The section's number as the model gave it; 0 for the cover. */
  readonly section: number;
}

/**
 * Requests the prompts of all images (contract.md G98): the cover first, where one is wanted, then those in the text, in its
 * order. An image that a response lacks is described by its heading.
 * @returns as many as are wanted; without a section in which one can stand, the cover alone
 * @throws {ProviderError} of the writer, or `unusable` when no response had a usable image; the signal's reason when aborted
 */
export async function requestImagePrompts(
  writer: ArticleWriter,
  request: ImagePromptsRequest,
): Promise<readonly ImagePrompt[]> {
  const { brief, article, images, styles, answered, signal } = request;
  const sections = writtenSections(article).map(({ number }) => number);
  const read = createReader(writer, request);
  const { value } = await requestPart<readonly ReadImage[]>({
    ask: (rejected) =>
      writer.ask({ kind: 'imagePrompts', brief, article, images, styles, sections, signal, rejected }),
    check: (response) => check(response, read),
    answered,
    what: 'the images',
    signal,
  });
  return placed(value, request);
}

/** The sections with a text, with their numbers in the outline, from 1. Questions at the end have no images. */
const writtenSections = ({ outline, finished }: ArticleSoFar) =>
  outline.sections.flatMap(({ id, heading }, index) =>
    (finished[index]?.blocks.length ?? 0) === 0 ? [] : [{ id, heading, number: index + 1 }],
  );

type Read = (image: ImagePromptsOutput['images'][number], name: string) => ReadImage | readonly Defect[];

const isRead = (image: ReadImage | readonly Defect[]): image is ReadImage => 'prompt' in image;

function check(response: ChatResponse, read: Read): Checked<readonly ReadImage[], Defect> {
  const parsed = parseResponse(imagePromptsOutput, response);
  if (!parsed.ok) return { value: null, defects: parsed.defects };
  const images = parsed.value.images.slice(0, MAX_READ).map((image, index) => read(image, `images.${index}`));
  const usable = images.filter(isRead);
  if (usable.length > 0) return { value: usable, defects: [] };
  const defects = images.flatMap((image) => (isRead(image) ? [] : image));
  return {
    value: null,
    defects: defects.length > 0 ? defects : [{ code: 'empty', problem: 'images: None was given.' }],
  };
}

/** Reads what a response says of one image. A caption that cannot be used is left out. */
function createReader(writer: ArticleWriter, { brief, article }: ImagePromptsRequest): Read {
  const { said, addresses } = customersWords(brief, article.outline);
  const rules = { writer, language: brief.config.language, said };
  const headings = article.outline.sections.map(({ heading }) => heading);
  const written = [...article.finished, ...(article.faq === null ? [] : [article.faq])];
  const figures = figuresIn([said, ...headings, ...written.flatMap(({ blocks }) => visibleTexts(blocks))]);
  const line = (raw: string, most: number): string => cutAtWord(readLine(raw, addresses), most);

  const readCaption = (raw: string): string | null => {
    const caption = line(raw, MAX_CAPTION);
    const shown: Block = { id: 'caption', type: 'paragraph', text: caption };
    const isUsable =
      lineDefects('caption', caption, rules).length === 0 &&
      unsupportedFigures([shown], figures).length === 0;
    return isUsable ? caption : null;
  };

  return (image, name) => {
    const prompt = line(image.prompt, MAX_IMAGE_PROMPT);
    const altText = line(image.altText, MAX_ALT_TEXT);
    const defects = [
      ...(prompt === '' ? [{ code: 'empty' as const, problem: `${name}.prompt: It is empty.` }] : []),
      ...lineDefects(`${name}.altText`, altText, rules),
    ];
    if (defects.length > 0) return defects;
    return { section: image.section, prompt, altText, caption: readCaption(image.caption) };
  };
}

/** The images in their places: as many as are wanted, what is missing by its heading. */
function placed(given: readonly ReadImage[], request: ImagePromptsRequest): ImagePrompt[] {
  const { brief, article, images, styles } = request;
  const sections = writtenSections(article);
  const described = (heading: string): Pick<ImagePrompt, 'prompt' | 'altText' | 'caption'> => ({
    prompt: cutAtWord(
      `A scene about this: ${heading}. The article is about ${brief.config.topic}.`,
      MAX_IMAGE_PROMPT,
    ),
    altText: cutAtWord(heading, MAX_ALT_TEXT),
    caption: null,
  });
  const cover = images.cover ? (given.find(({ section }) => section === 0) ?? given[0]) : undefined;
  const others = given.filter((image) => image !== cover).slice(0, images.inline);
  const hero: readonly ImagePrompt[] =
    cover === undefined ? [] : [{ role: 'hero', sectionId: null, style: styles.hero, ...textsOf(cover) }];
  if (sections.length === 0) return [...hero];

  const wished = others.map(({ section }) => sections.findIndex(({ number }) => number === section));
  const missing = images.inline - others.length;
  const wishes = [
    ...wished.map((position) => (position < 0 ? null : position)),
    ...Array.from({ length: missing }, () => null),
  ];
  const inline = settlePlaces(sections.length, wishes)
    .map((position, index) => ({ position, image: others[index] }))
    .toSorted((one, other) => one.position - other.position)
    .flatMap(({ position, image }): ImagePrompt[] => {
      const section = sections[position];
      if (section === undefined) return [];
      const texts = image === undefined ? described(section.heading) : textsOf(image);
      return [{ role: 'inline', sectionId: section.id, style: styles.inline, ...texts }];
    });
  return [...hero, ...inline];
}

const textsOf = ({ prompt, altText, caption }: ReadImage) => ({ prompt, altText, caption });
