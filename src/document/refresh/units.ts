/** Splits an article into units for a refresh, and hashes them for comparison. */
import { hash } from 'node:crypto';
import type { AssetId } from '../../ids.ts';
import { dropDeadLinks } from '../format/links.ts';
import type { Block } from '../format/schema.ts';
import { collectTexts, type TextField } from '../format/walk.ts';
import type { TranslatedArticle } from '../translation/reassemble.ts';
import type { Snapshot } from '../translation/source.ts';
import type { MetaUnit, Provenance, UnitKey, UnitProvenance, UnitValue } from './types.ts';

/** Characters of a hash: 96 bits. */
const HASH_LENGTH = 16;

/** Equal for values that are equal as JSON, whatever the order of their fields. */
function hashOf(value: unknown): string {
  const json = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
  return hash('sha256', json, 'base64url').slice(0, HASH_LENGTH);
}

/** The hash of a unit without block and image ids, so that a block is found again after its id changes. */
function hashOfValue(value: UnitValue): string {
  switch (value.type) {
    case 'block': {
      const { id, ...block } = value.block;
      return hashOf('links' in block && block.links?.length === 0 ? { ...block, links: undefined } : block);
    }
    case 'image': {
      const { role, contentHash, altText } = value.image;
      return hashOf({ role, contentHash, altText });
    }
    case 'text':
      return hashOf(value.text);
    case 'texts':
      return hashOf(value.texts);
  }
}

export interface Unit {
  readonly value: UnitValue;
  readonly hash: string;
}

export const imageKey = (sourceId: string): UnitKey => `image:${sourceId}`;
export const blockKey = (id: string): UnitKey => `block:${id}`;
/** The id in the key of a block or image. */
export const idOf = (key: UnitKey): string => key.slice(key.indexOf(':') + 1);

/** The fields outside the body as units, in order. */
export const fieldUnits = (content: Pick<Snapshot, MetaUnit>): [MetaUnit, UnitValue][] => [
  ['title', { type: 'text', text: content.title }],
  ['metaTitle', { type: 'text', text: content.metaTitle }],
  ['metaDescription', { type: 'text', text: content.metaDescription }],
  ['targetKeywords', { type: 'texts', texts: content.targetKeywords }],
  ['secondaryKeywords', { type: 'texts', texts: content.secondaryKeywords }],
];

/** The fields outside the body, with all but the selected ones empty. */
export const fieldsAmong = (
  content: Pick<Snapshot, MetaUnit>,
  isKept: (key: MetaUnit) => boolean,
): Pick<Snapshot, MetaUnit> => ({
  title: isKept('title') ? content.title : '',
  metaTitle: isKept('metaTitle') ? content.metaTitle : null,
  metaDescription: isKept('metaDescription') ? content.metaDescription : null,
  targetKeywords: isKept('targetKeywords') ? content.targetKeywords : [],
  secondaryKeywords: isKept('secondaryKeywords') ? content.secondaryKeywords : [],
});

/** An article's units by key, in order. Images without a key are skipped. */
export function unitsOf(
  content: Snapshot,
  keyOfImage: (id: AssetId) => UnitKey | undefined = imageKey,
): Map<UnitKey, Unit> {
  const units = new Map<UnitKey, Unit>();
  const add = (key: UnitKey, value: UnitValue) => units.set(key, { value, hash: hashOfValue(value) });
  for (const [key, value] of fieldUnits(content)) add(key, value);
  for (const block of saved(content).blocks) add(blockKey(block.id), { type: 'block', block });
  for (const image of content.assets) {
    const key = keyOfImage(image.id);
    if (key !== undefined) add(key, { type: 'image', image });
  }
  return units;
}

/** The body as saved: dropping a dead link on save does not count as an edit of its block. */
const saved = ({ document }: Snapshot) =>
  document.blocks.some((block) => 'links' in block) ? dropDeadLinks(document) : document;

/** A text of a unit. */
export type Field = Pick<TextField, 'text' | 'markdown' | 'links'> & {
  /** The key in a snapshot with the unit at this index among its blocks or images. */
  keyAt(index: number): string;
};

const beside = (text: string, keyAt: (index: number) => string): Field => ({
  text,
  markdown: false,
  links: [],
  keyAt,
});

/** The texts of a unit in order; each list item and table cell is one text. */
export function fieldsOf(key: UnitKey, value: UnitValue): Field[] {
  switch (value.type) {
    case 'text':
      return value.text === null ? [] : [beside(value.text, () => key)];
    case 'texts':
      return value.texts.map((text, index) => beside(text, () => `${key.slice(0, -1)}.${index}`));
    case 'image':
      return [beside(value.image.altText, (index) => `asset.${index}.alt`)];
    case 'block':
      return fieldsOfBlock(value.block);
  }
}

const FIRST = 'block.0.';

/** A text of a block. A class to save memory: a table has very many. */
class BlockField implements Field {
  readonly text: string;
  readonly markdown: boolean;
  readonly links: TextField['links'];
  private readonly key: string;

  constructor({ key, text, markdown, links }: TextField) {
    this.text = text;
    this.markdown = markdown;
    this.links = links;
    this.key = key;
  }

  keyAt(index: number): string {
    return `block.${index}.${this.key.slice(FIRST.length)}`;
  }
}

const fieldsOfBlock = (block: Block): Field[] =>
  collectTexts({ version: 1, blocks: [block] }).map((field) => new BlockField(field));

/** Hash of a text and the words of its links, without their targets. */
const hashOfField = ({ text, markdown, links }: Field): string =>
  hashOf([text, markdown, ...links.map((link) => link.text)]);

export const hashesOf = (fields: readonly Field[]): string[] => fields.map(hashOfField);

/** The provenance of a unit that was written. */
export const writtenUnit = (
  key: UnitKey,
  source: { readonly hash: string; readonly texts: readonly string[] },
  value: UnitValue,
): UnitProvenance => ({
  key,
  source: source.hash,
  target: hashOfValue(value),
  texts: source.texts,
  written: hashesOf(fieldsOf(key, value)),
  ...(value.type === 'image' ? { assetId: value.image.id } : {}),
});

/** The provenance of a unit that the version lacks. */
export const absentUnit = (
  key: UnitKey,
  source: { readonly hash: string; readonly texts: readonly string[] },
): UnitProvenance => ({ key, source: source.hash, target: null, texts: source.texts, written: [] });

/** Looks up the index of each block and image of a snapshot; 0 for fields outside the body. */
export function placesIn({ document, assets }: Snapshot): (key: UnitKey) => number {
  const places = new Map<UnitKey, number>([
    ...document.blocks.map(({ id }, place) => [blockKey(id), place] as const),
    ...assets.map(({ id }, place) => [imageKey(id), place] as const),
  ]);
  return (key) => places.get(key) ?? 0;
}

/**
 * Clears the hashes of skipped texts, so that the unit counts as not translated yet.
 * @returns `source` itself when none was skipped
 */
export function withoutSkipped(
  source: { readonly hash: string; readonly texts: readonly string[] },
  fields: readonly Field[],
  place: number,
  left: ReadonlySet<string>,
): { readonly hash: string; readonly texts: readonly string[] } {
  const isLeft = fields.map((field) => left.has(field.keyAt(place)));
  if (!isLeft.includes(true)) return source;
  return { hash: '', texts: source.texts.map((hash, index) => (isLeft[index] ? '' : hash)) };
}

/**
 * The provenance of a version that was just translated.
 * @param assetIds the version's images by the source's
 * @param left the fields that keep the source's text
 */
export function provenanceOf(
  source: Snapshot,
  { altTexts, ...made }: Omit<TranslatedArticle, 'overlong'>,
  assetIds: ReadonlyMap<string, AssetId>,
  left: ReadonlySet<string> = new Set(),
): Provenance {
  const placeOf = placesIn(source);
  const version: Snapshot = {
    ...made,
    assets: source.assets.map((image) => ({
      ...image,
      id: assetIds.get(image.id) ?? image.id,
      altText: altTexts.get(image.id) ?? image.altText,
    })),
  };
  const keys = new Map([...assetIds].map(([sourceId, id]) => [id, imageKey(sourceId)]));
  const written = unitsOf(version, (id) => keys.get(id));
  return [...unitsOf(source)].map(([key, unit]) => {
    const fields = fieldsOf(key, unit.value);
    const from = withoutSkipped({ hash: unit.hash, texts: hashesOf(fields) }, fields, placeOf(key), left);
    const to = written.get(key);
    return to === undefined ? absentUnit(key, from) : writtenUnit(key, from, to.value);
  });
}
