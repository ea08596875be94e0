/** Plans the texts of an article for an engine: batches, with the text around each. */
import { cutAtWord, firstCodePoints } from '../text/characters.ts';
import type { InVersion, Neighbours, Placeholders } from './context.ts';
import { encodeField } from './field-codec.ts';
import type { LanguagePair } from './figures.ts';
import { extractSegments, type Segment, segmentWords } from './segments.ts';
import type { Snapshot } from './source.ts';
import { plainText, tagText } from './tags.ts';

/** Bounds on the characters of a neighbour, and of a heading in the outline. */
const MAX_NEIGHBOUR = 200;
const MAX_HEADING = 120;
/** Size of the outline in characters: a fifth of the texts, within these bounds. */
const OUTLINE = { least: 300, most: 6_000, share: 0.2 } as const;

export interface PlannedSegment extends Segment, Neighbours {
  readonly words: number;
  /** What the version has in its place; absent in a first translation, and where the version has nothing. */
  readonly inVersion?: InVersion;
}

/** What a text is translated in view of besides its source, as one string; null when the version has no text for it. */
export const revisedFrom = ({ inVersion }: Pick<PlannedSegment, 'inVersion'>): string | null =>
  inVersion?.current === undefined ? null : JSON.stringify([inVersion.oldSource, inVersion.current]);

/** Looks up texts of the version that is refreshed. */
export interface VersionTexts {
  /** The version's text for a segment, and what that was translated from. */
  readonly at: (key: string) => Pick<InVersion, 'oldSource' | 'current'>;
  /** The version's text for a segment of the whole source's body; empty when it has none. */
  readonly textOf: (keyInWhole: string) => string;
}

/** The texts that are sent, in reading order, and their context. */
export interface PlannedTexts {
  readonly title: string;
  /** The title of the version that is refreshed, unless it is translated again. */
  readonly versionTitle?: string;
  readonly outline: readonly string[];
  readonly segments: readonly PlannedSegment[];
}

/**
 * Prepares segments for an engine.
 * @param whole the article, from which the surrounding texts are taken
 * @param part the part of the article that the segments' keys refer to; `whole` by default
 * @param languages of the segments; null when unknown
 * @param version the texts of the version that is refreshed; null when there is none
 */
export function planTexts(
  segments: readonly Segment[],
  whole: Snapshot,
  part = whole,
  languages: LanguagePair | null = null,
  version: VersionTexts | null = null,
): PlannedTexts {
  const texts = part === whole ? segments : extractSegments(whole, undefined, languages);
  const places = new Map(texts.map(({ key }, place) => [key, place]));
  const keyInWhole = part === whole ? (key: string) => key : keyMapper(part, whole);
  const neighbour = (place: number | undefined): string =>
    place === undefined ? '' : plainText(texts[place]?.text ?? '');
  const isSent = new Set(version === null ? [] : segments.map(({ key }) => keyInWhole(key)));
  const inVersion = ({ key }: Segment, place: number | undefined): { readonly inVersion?: InVersion } => {
    if (version === null) return {};
    const own = version.at(key);
    const besides = (step: -1 | 1): string => {
      const other = place === undefined ? undefined : texts[place + step]?.key;
      // One that is translated again comes with what stands there; a new text has nothing else to go by.
      const isKnown = other === undefined || (own.current !== undefined && isSent.has(other));
      return isKnown ? '' : version.textOf(other);
    };
    const [before, after] = [ending(besides(-1)), cutAtWord(besides(1), MAX_NEIGHBOUR)];
    const found = { ...own, ...(before && { before }), ...(after && { after }) };
    return Object.keys(found).length === 0 ? {} : { inVersion: found };
  };
  const planned = segments.map((segment) => {
    const place = places.get(keyInWhole(segment.key));
    return {
      ...inVersion(segment, place),
      ...segment,
      words: segmentWords(segment),
      before: place === undefined ? '' : ending(neighbour(place - 1)),
      after: place === undefined ? '' : cutAtWord(neighbour(place + 1), MAX_NEIGHBOUR),
    };
  });
  const sent = segments.reduce((sum, { text }) => sum + text.length, 0);
  const room = Math.min(Math.max(sent * OUTLINE.share, OUTLINE.least), OUTLINE.most);
  return { title: whole.title, outline: outlineOf(whole, room), segments: planned };
}

/** The end of a text, starting at a word. */
function ending(text: string): string {
  if (text.length <= MAX_NEIGHBOUR) return text;
  const end = text.slice(-MAX_NEIGHBOUR).replace(/^[\udc00-\udfff]/, '');
  const word = /^\S*\s+/.exec(end)?.[0].length ?? 0;
  return word > MAX_NEIGHBOUR / 2 ? end : end.slice(word);
}

/** The headings in order: all of them, or as many of the higher levels as fit. */
function outlineOf({ document }: Snapshot, room: number): string[] {
  const headings = document.blocks.flatMap((block) => {
    if (block.type !== 'heading') return [];
    const { nodes } = encodeField({ text: block.text, markdown: block.format === 'markdown', links: [] });
    return { level: block.level, text: cutAtWord(tagText(nodes).trim(), MAX_HEADING) };
  });
  const levels = [...new Set(headings.map(({ level }) => level))].sort((one, other) => other - one);
  let kept = headings;
  for (const lowest of levels) {
    kept = headings.filter(({ level }) => level <= lowest);
    if (lengthOf(kept) <= room) break;
  }
  while (lengthOf(kept) > room) kept = kept.slice(0, -1);
  return kept.map(({ text }) => text);
}

/** Characters of headings as JSON. */
const lengthOf = (headings: readonly { readonly text: string }[]): number =>
  headings.reduce((sum, { text }) => sum + text.length + 3, 0);

/** Maps a text's key in the part to its key in the whole, by block and image id. */
function keyMapper(part: Snapshot, whole: Snapshot): (key: string) => string {
  const blocks = new Map(whole.document.blocks.map(({ id }, place) => [id, place]));
  const assets = new Map<string, number>(whole.assets.map(({ id }, place) => [id, place]));
  return (key) =>
    key.replace(/^(block|asset)\.(\d+)/, (_, list: string, place: string) => {
      const at = Number(place);
      const found =
        list === 'block'
          ? blocks.get(part.document.blocks[at]?.id ?? '')
          : assets.get(part.assets[at]?.id ?? '');
      return `${list}.${found ?? 'none'}`;
    });
}

/** Characters of a placeholder that are sent with a request, and of all of them: a share of its texts, within bounds. */
const MAX_PLACEHOLDER = 60;
const PLACEHOLDERS = { least: 200, most: 800, share: 0.125 } as const;
/** Characters that one placeholder, and one text with placeholders, add as JSON. */
const PLACEHOLDER_JSON = 8;
const TEXT_JSON = 20;

/** What the empty tags of a batch stand for, by the keys of its texts; bounded, in reading order (contract.md V35). */
export function placeholdersOf(
  batch: readonly Pick<Segment, 'key' | 'text' | 'placeholders'>[],
): Readonly<Record<string, Placeholders>> {
  const sent = batch.reduce((sum, { text }) => sum + text.length, 0);
  let room = Math.min(Math.max(sent * PLACEHOLDERS.share, PLACEHOLDERS.least), PLACEHOLDERS.most);
  const named: Record<string, Placeholders> = {};
  for (const { key, placeholders = {} } of batch) {
    const fitting: [string, string][] = [];
    let left = room - TEXT_JSON;
    for (const [id, content] of Object.entries(placeholders)) {
      const shown = shorten(content);
      const added = Buffer.byteLength(JSON.stringify(shown)) + PLACEHOLDER_JSON;
      if (added > left) continue;
      left -= added;
      fitting.push([id, shown]);
    }
    if (fitting.length === 0) continue;
    named[key] = Object.fromEntries(fitting);
    room = left;
  }
  return named;
}

/** Characters of a version's texts that go with a request, by those that it translates (contract.md V58). */
const VERSION_SHARE = 3;

/**
 * What the version has in the place of a request's texts, by their keys: first what stands there, then what that was
 * translated from, then what stands around, as far as there is room.
 */
export function boundInVersion(
  texts: readonly (Pick<Segment, 'key' | 'text'> & { readonly inVersion: InVersion | null })[],
): Map<string, InVersion> {
  let room = VERSION_SHARE * texts.reduce((sum, { text }) => sum + text.length, 0);
  const found = new Map<string, InVersion>();
  for (const field of ['current', 'oldSource', 'before', 'after'] as const) {
    for (const { key, inVersion } of texts) {
      const text = inVersion?.[field];
      if (text === undefined || text.length > room) continue;
      room -= text.length;
      found.set(key, { ...found.get(key), [field]: text });
    }
  }
  return found;
}

function shorten(content: string): string {
  const isShort = firstCodePoints(content, MAX_PLACEHOLDER).length === content.length;
  return isShort ? content : `${firstCodePoints(content, MAX_PLACEHOLDER - 1)}…`;
}

/** Bounds of one request to a provider. */
export interface BatchBounds {
  /** The most words in a batch; a longer segment is a batch of its own. */
  readonly maxWords: number;
  readonly maxSegments: number;
}

/** Splits segments into batches, in order. */
export function planBatches<S extends Pick<PlannedSegment, 'words'>>(
  segments: readonly S[],
  bounds: BatchBounds,
): S[][] {
  const batches: S[][] = [];
  let batch: S[] = [];
  let words = 0;
  for (const segment of segments) {
    const full = batch.length >= bounds.maxSegments || words + segment.words > bounds.maxWords;
    if (batch.length > 0 && full) {
      batches.push(batch);
      batch = [];
      words = 0;
    }
    batch.push(segment);
    words += segment.words;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
