/** Extracts pairs of source text and translation from an approved version, for the translation memory. */
import type { TextField } from '../format/walk.ts';
import { toPlainText } from '../inline/parse.ts';
import { type EncodedField, encodeField } from '../translation/field-codec.ts';
import { needsTranslation, type SegmentKind } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { splitLong } from '../translation/split.ts';
import { eachTag, serializeTags, type TagContent, type TagNode } from '../translation/tags.ts';
import { oneToOne, standingTexts } from './past.ts';
import { carryOver } from './reuse.ts';
import { compare } from './states.ts';
import type { Provenance, UnitProvenance } from './types.ts';
import { type Field, fieldsOf, hashesOf } from './units.ts';

/** A text and its translation, both in protected form with the source's tags. */
export interface TaughtText {
  readonly kind: SegmentKind;
  readonly source: string;
  readonly target: string;
}

type Text = Pick<TextField, 'text' | 'markdown' | 'links'>;

/**
 * The texts of a version that are current, or edited under their present source, one to one (contract.md T43): each unit
 * has as many texts as its source, in order. Skipped: texts whose tags differ, texts with several links (their order is
 * unknown), and texts that are translated in parts.
 */
export function taughtBy(source: Snapshot, version: Snapshot, provenance: Provenance): TaughtText[] {
  const taught: TaughtText[] = [];
  const add = (kind: SegmentKind, from: Text, to: Text): void => {
    const [original, translated] = [encodeField(from), encodeField(to)];
    const ids = pairTags(original, translated);
    if (ids === null || from.links.length > 1 || splitLong(original.nodes).length > 1) return;
    if (needsTranslation(original.nodes)) {
      taught.push({
        kind,
        source: serializeTags(original.nodes),
        target: serializeTags(renumber(translated.nodes, ids)),
      });
    }
    for (const [id, title] of translated.titles) {
      const titleBefore = original.titles.get(ids.get(id) ?? 0);
      if (titleBefore !== undefined) add('linkTitle', plain(titleBefore), plain(title));
    }
  };
  for (const { key, source: from, version: to, known } of compare(source, version, provenance).units) {
    if (from === undefined || to === undefined || known === undefined) continue;
    const fields = fieldsOf(key, from.value);
    const made = fieldsOf(key, to.value);
    for (const index of taughtIn(known, fields, made)) {
      const [field, text] = [fields[index], made[index]];
      const change = field && text && carryOver(field, text);
      if (change) add(field.kind, field, { ...field, text: change.text, links: change.links ?? [] });
    }
  }
  return taught;
}

/** The places of the texts of a unit that were written for the source's text in the same place. */
function taughtIn(known: UnitProvenance, source: readonly Field[], version: readonly Field[]): number[] {
  if (source.length !== version.length || source.length !== known.texts.length) return [];
  const standing = standingTexts(known, version);
  const isOneToOne = oneToOne(standing);
  return hashesOf(source).flatMap((hash, index) => {
    const [text, from, to] = [standing[index], source[index], version[index]];
    if (text?.source !== hash || !from || !to || !isOneToOne(text)) return [];
    return !text.byPerson || sentencesOf(from) === sentencesOf(to) ? index : [];
  });
}

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });

function sentencesOf({ text, markdown }: Field): number {
  let count = 0;
  for (const { segment } of SENTENCES.segment(markdown ? toPlainText(text) : text)) {
    if (segment.trim() !== '') count += 1;
  }
  return count;
}

const plain = (text: string): Text => ({ text, markdown: false, links: [] });

/** Source tag ids by the translation's tag ids; null unless both have the same tags. */
function pairTags(original: EncodedField, translated: EncodedField): Map<number, number> | null {
  const left = new Map<string, number[]>();
  for (const { node } of eachTag(original.nodes)) {
    const meaning = original.meaningOf(node);
    left.set(meaning, [...(left.get(meaning) ?? []), node.id]);
  }
  const ids = new Map<number, number>();
  for (const { node } of eachTag(translated.nodes)) {
    const id = left.get(translated.meaningOf(node))?.shift();
    if (id === undefined) return null;
    ids.set(node.id, id);
  }
  return [...left.values()].every((rest) => rest.length === 0) ? ids : null;
}

const renumber = (nodes: readonly TagContent[], ids: ReadonlyMap<number, number>): TagContent[] =>
  nodes.map((node): string | TagNode =>
    typeof node === 'string'
      ? node
      : { ...node, id: ids.get(node.id) ?? node.id, children: renumber(node.children, ids) },
  );
