/** Splits an article into units for a refresh, and hashes them for comparison. */
import type { AssetId } from '../../ids.ts';
import { dropDeadLinks } from '../format/links.ts';
import type { Block } from '../format/schema.ts';
import { collectTexts, type TextField } from '../format/walk.ts';
import type { SegmentKind } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { hashOfShape, hashOfText, hashOfValue } from './canonical.ts';
import type { MetaUnit, Provenance, UnitKey, UnitProvenance, UnitValue, Writer } from './types.ts';

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

/** An article's units in order: fields, blocks and images, each with its index among its kind. */
export function* eachUnit(
  content: Snapshot,
  keyOfImage: (id: AssetId) => UnitKey | undefined = imageKey,
  keyOfBlock: (id: string) => UnitKey | undefined = blockKey,
): Generator<readonly [key: UnitKey, value: UnitValue, place: number]> {
  for (const [key, value] of fieldUnits(content)) yield [key, value, 0];
  for (const [place, block] of content.document.blocks.entries()) {
    const key = keyOfBlock(block.id);
    if (key !== undefined) yield [key, { type: 'block', block }, place];
  }
  for (const [place, image] of content.assets.entries()) {
    const key = keyOfImage(image.id);
    if (key !== undefined) yield [key, { type: 'image', image }, place];
  }
}

/** An article's units by key, in order. Blocks and images without a key are skipped. */
export function unitsOf(
  content: Snapshot,
  keyOfImage?: (id: AssetId) => UnitKey | undefined,
  keyOfBlock?: (id: string) => UnitKey | undefined,
): Map<UnitKey, Unit> {
  const units = new Map<UnitKey, Unit>();
  for (const [key, value] of eachUnit({ ...content, document: saved(content) }, keyOfImage, keyOfBlock)) {
    units.set(key, { value, hash: hashOfValue(value) });
  }
  return units;
}

/** The body as saved: dropping a dead link on save does not count as an edit of its block. */
const saved = ({ document }: Snapshot) =>
  document.blocks.some((block) => 'links' in block) ? dropDeadLinks(document) : document;

/** A text of a unit. */
export type Field = Pick<TextField, 'text' | 'markdown' | 'links'> & {
  readonly kind: SegmentKind;
  /** The key in a snapshot with the unit at this index among its blocks or images. */
  keyAt(index: number): string;
};

const beside = (kind: SegmentKind, text: string, keyAt: (index: number) => string): Field => ({
  kind,
  text,
  markdown: false,
  links: [],
  keyAt,
});

/** The texts of a unit in order; each list item and table cell is one text. */
export function fieldsOf(key: UnitKey, value: UnitValue): Field[] {
  switch (value.type) {
    case 'text':
      return value.text === null ? [] : [beside(key as 'title', value.text, () => key)];
    case 'texts':
      return value.texts.map((text, index) => beside('keyword', text, () => `${key.slice(0, -1)}.${index}`));
    case 'image':
      return [beside('altText', value.image.altText, (index) => `asset.${index}.alt`)];
    case 'block':
      return fieldsOfBlock(value.block);
  }
}

const FIRST = 'block.0.';

/** A text of a block. A class to save memory: a table has very many. */
class BlockField implements Field {
  readonly kind: TextField['kind'];
  readonly text: string;
  readonly markdown: boolean;
  readonly links: TextField['links'];
  private readonly key: string;

  constructor({ key, kind, text, markdown, links }: TextField) {
    this.kind = kind;
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
  collectTexts({ version: 1, blocks: [block] }).flatMap((field) =>
    isNone(field) ? [] : new BlockField(field),
  );

/** True for an optional text that is empty, which counts as absent. */
const isNone = ({ kind, text }: TextField): boolean =>
  text === '' && (kind === 'attribution' || kind === 'caption');

export const hashesOf = (fields: readonly Field[]): string[] => fields.map(hashOfText);

/** Hashes of a unit of the source and of its texts. */
export interface SourceHashes {
  readonly hash: string;
  readonly texts: readonly string[];
}

/** The provenance of a unit that was written; `blockId` is the version's. */
export const writtenUnit = (key: UnitKey, source: SourceHashes, value: UnitValue): UnitProvenance => ({
  key,
  source: source.hash,
  target: hashOfValue(value),
  shape: hashOfShape(value),
  texts: source.texts,
  written: hashesOf(fieldsOf(key, value)),
  ...idIn(value),
});

/** The id of the version's block or image. */
export const idIn = (value: UnitValue): Pick<UnitProvenance, 'blockId' | 'assetId'> => {
  if (value.type === 'block') return { blockId: value.block.id };
  return value.type === 'image' ? { assetId: value.image.id } : {};
};

/** The provenance of a unit that the version lacks. */
export const absentUnit = (key: UnitKey, source: SourceHashes): UnitProvenance => ({
  key,
  source: source.hash,
  target: null,
  shape: '',
  texts: source.texts,
  written: [],
});

/** The provenance of a unit that both sides have, when it is not known what it was translated from. */
export const unknownUnit = (key: UnitKey, value: UnitValue): UnitProvenance => ({
  key,
  source: '',
  target: '',
  shape: '',
  texts: [],
  written: [],
  ...idIn(value),
});

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
  source: SourceHashes,
  fields: readonly Field[],
  place: number,
  left: ReadonlySet<string>,
): SourceHashes {
  const isLeft = fields.map((field) => left.has(field.keyAt(place)));
  if (!isLeft.includes(true)) return source;
  return { hash: '', texts: source.texts.map((hash, index) => (isLeft[index] ? '' : hash)) };
}

/** The provenance with the writers of some units' present pairs. */
export const withWriters = (
  provenance: Provenance,
  writerOf: (key: UnitKey) => Writer | undefined,
): Provenance =>
  provenance.map((unit) => {
    const wrote = writerOf(unit.key);
    return wrote === undefined ? unit : { ...unit, wrote };
  });
