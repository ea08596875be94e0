/** Extracts pairs of source text and translation from an approved version, for the translation memory. */
import { collectTexts, type TextField } from '../format/walk.ts';
import { type EncodedField, encodeField } from '../translation/field-codec.ts';
import { needsTranslation, type SegmentKind } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { splitLong } from '../translation/split.ts';
import { eachTag, serializeTags, type TagContent, type TagNode } from '../translation/tags.ts';
import { reusableTexts, reuse } from './reuse.ts';
import { compare } from './states.ts';
import type { Provenance, UnitKey, UnitValue } from './types.ts';
import { fieldsOf, hashesOf } from './units.ts';

/** A text and its translation, both in protected form with the source's tags. */
export interface TaughtText {
  readonly kind: SegmentKind;
  readonly source: string;
  readonly target: string;
}

type Text = Pick<TextField, 'text' | 'markdown' | 'links'>;

/**
 * The current texts of a version whose source texts are unchanged. Skipped: texts whose tags differ, texts with several
 * links (their order is unknown), and texts that are translated in parts.
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
    const kinds = kindsOf(key, from.value);
    const made = reusableTexts(key, known, to.value, to.hash === known.target);
    for (const [index, change] of reuse(fields, hashesOf(fields), [made]).entries()) {
      const [field, kind] = [fields[index], kinds[index]];
      if (field === undefined || kind === undefined || change === undefined) continue;
      add(kind, field, { ...field, text: change.text, links: change.links ?? [] });
    }
  }
  return taught;
}

const plain = (text: string): Text => ({ text, markdown: false, links: [] });

/** The kinds of the fields of `fieldsOf`. */
function kindsOf(key: UnitKey, value: UnitValue): SegmentKind[] {
  switch (value.type) {
    case 'text':
      return [key as 'title' | 'metaTitle' | 'metaDescription'];
    case 'texts':
      return value.texts.map(() => 'keyword');
    case 'image':
      return ['altText'];
    case 'block':
      return collectTexts({ version: 1, blocks: [value.block] }).map(({ kind }) => kind);
  }
}

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
