/** An article as the list of texts that a provider translates. */

import { collectTexts, type FieldKind, type TextField } from '../format/walk.ts';
import { countTextWords } from '../format/words.ts';
import type { Placeholders } from './context.ts';
import { encodeField } from './field-codec.ts';
import { type LanguagePair, needsLocalising } from './figures.ts';
import type { Snapshot } from './source.ts';
import { splitLong } from './split.ts';
import { eachTag, serializeTags, type TagContent, tagText } from './tags.ts';

export type SegmentKind = 'title' | 'metaTitle' | 'metaDescription' | 'keyword' | 'linkTitle' | FieldKind;

export const SEGMENT_KINDS = [
  'title',
  'metaTitle',
  'metaDescription',
  'keyword',
  'linkTitle',
  'heading',
  'paragraph',
  'listItem',
  'quote',
  'attribution',
  'tableCell',
  'caption',
  'altText',
] as const satisfies readonly SegmentKind[];

/** True for kinds of text in the body, which always count in an article's price. */
export const isOfBody = (kind: SegmentKind | null): boolean =>
  kind !== null &&
  !['title', 'metaTitle', 'metaDescription', 'keyword', 'linkTitle', 'altText'].includes(kind);

/** Kinds that are translated before the body, which uses their words. */
export const FIELD_KINDS = [
  'title',
  'metaTitle',
  'metaDescription',
  'keyword',
] as const satisfies readonly SegmentKind[];
export const isField = (kind: SegmentKind): boolean => FIELD_KINDS.some((field) => field === kind);

/** One text to translate, in protected form. `key` consists of positions and is unique in the snapshot. */
export interface Segment {
  readonly key: string;
  readonly kind: SegmentKind;
  readonly text: string;
  /** What its `x` tags stand for, by tag id; absent when nothing that a translator has to know. */
  readonly placeholders?: Placeholders;
}

/** A text outside the body. */
interface MetaField {
  readonly key: string;
  readonly kind: SegmentKind;
  readonly text: string;
}

/** The fields of a snapshot outside its document, in a fixed order. */
export function metaFields(snapshot: Omit<Snapshot, 'document'>): MetaField[] {
  const { title, metaTitle, metaDescription, targetKeywords, secondaryKeywords, assets } = snapshot;
  return [
    { key: 'title', kind: 'title', text: title },
    ...(metaTitle === null ? [] : [{ key: 'metaTitle', kind: 'metaTitle' as const, text: metaTitle }]),
    ...(metaDescription === null
      ? []
      : [{ key: 'metaDescription', kind: 'metaDescription' as const, text: metaDescription }]),
    ...targetKeywords.map((text, index) => ({
      key: `targetKeyword.${index}`,
      kind: 'keyword' as const,
      text,
    })),
    ...secondaryKeywords.map((text, index) => ({
      key: `secondaryKeyword.${index}`,
      kind: 'keyword' as const,
      text,
    })),
    ...assets.map((asset, index) => ({
      key: `asset.${index}.alt`,
      kind: 'altText' as const,
      text: asset.altText,
    })),
  ];
}

/** The key of an inline link's title. */
export function titleKey(fieldKey: string, tagId: number): string {
  return `${fieldKey}.title.${tagId}`;
}

/** The key of one part of a long text. */
export function partKey(fieldKey: string, part: number): string {
  return `${fieldKey}.part.${part}`;
}

/** The key of the field that a part of a long text belongs to; other keys stay. */
export const fieldKey = (key: string): string => key.replace(/\.part\.\d+$/, '');

/** The key of the field that has a part or the title of a link; other keys stay. */
export const holderKey = (key: string): string => key.replace(/\.(?:part|title)\.\d+$/, '');

/** The keys of fields with a segment that has no usable translation (null). */
export const leftFields = (translations: ReadonlyMap<string, string | null>): Set<string> =>
  new Set([...translations].flatMap(([key, text]) => (text === null ? holderKey(key) : [])));

/**
 * True when there is a letter outside the untouchable parts, or a figure that the other language writes differently.
 * @param languages null when unknown: figures alone then need no translation
 */
export function needsTranslation(
  nodes: readonly TagContent[],
  languages: LanguagePair | null = null,
): boolean {
  const text = tagText(nodes);
  return /\p{L}/u.test(text) || (languages !== null && needsLocalising(text, languages));
}

/**
 * Every text of the snapshot to translate, in reading order, title and meta texts first. Texts without a letter are
 * skipped, unless the other language writes their figures differently (contract.md V40); a very long text gives several
 * segments. Inline code, addresses, ids and code blocks are in no segment.
 * @param kept fields by key to skip
 * @param languages null when unknown
 */
export function extractSegments(
  snapshot: Snapshot,
  kept: ReadonlyMap<string, unknown> = new Map(),
  languages: LanguagePair | null = null,
): Segment[] {
  const segments: Segment[] = [];
  const add = (
    key: string,
    kind: SegmentKind,
    field: Pick<TextField, 'text' | 'markdown' | 'links'>,
  ): void => {
    if (kept.has(key)) return;
    const encoded = encodeField(field);
    const parts = splitLong(encoded.nodes);
    parts.forEach(({ nodes }, part) => {
      if (!needsTranslation(nodes, languages)) return;
      const name = parts.length === 1 ? key : partKey(key, part);
      const placeholders = placeholdersIn(nodes, encoded.placeholders);
      segments.push({
        key: name,
        kind,
        text: serializeTags(nodes),
        ...(placeholders === null ? {} : { placeholders }),
      });
    });
    for (const [id, title] of encoded.titles) {
      add(titleKey(key, id), 'linkTitle', { text: title, markdown: false, links: [] });
    }
  };
  const addMeta = ({ key, kind, text }: MetaField): void =>
    add(key, kind, { text, markdown: false, links: [] });
  const { assets, document } = snapshot;
  const meta = metaFields(snapshot);
  const shown = new Set(document.blocks.map((block) => (block.type === 'image' ? block.assetId : null)));
  // An image's alternative text follows its position in the body.
  const altTexts = new Map<string, MetaField>();
  for (const [place, field] of meta.entries()) {
    const asset = assets[place + assets.length - meta.length];
    if (asset !== undefined && shown.has(asset.id)) altTexts.set(asset.id, field);
    else addMeta(field);
  }
  for (const field of collectTexts(document)) {
    const block = document.blocks[Number(field.key.split('.', 2)[1])];
    const altText = block?.type === 'image' ? altTexts.get(block.assetId) : undefined;
    if (block?.type === 'image' && altText !== undefined) {
      addMeta(altText);
      altTexts.delete(block.assetId);
    }
    add(field.key, field.kind, field);
  }
  return segments;
}

function placeholdersIn(nodes: readonly TagContent[], all: ReadonlyMap<number, string>): Placeholders | null {
  if (all.size === 0) return null;
  const found = [...eachTag(nodes)].flatMap(({ node: { id } }) => {
    const content = all.get(id);
    return content === undefined ? [] : [[id, content] as const];
  });
  return found.length === 0 ? null : Object.fromEntries(found);
}

/** Number of words in a segment's text, without tags. */
export function segmentWords(segment: Pick<Segment, 'text'>): number {
  return countTextWords(segment.text.replace(/<[^<>]*>/g, ' '));
}

/** True when a tree contains an untouchable part. */
export function holdsAtom(nodes: readonly TagContent[]): boolean {
  for (const { node } of eachTag(nodes)) if (node.tag === 'x') return true;
  return false;
}
